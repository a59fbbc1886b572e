import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Link } from '../../../src/wire/link.ts';
import { Peer, type PeerOptions, type WireRecord } from './peer.ts';

/** Close code and reason of a WebSocket. */
export interface SocketClose {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket client that never reconnects. It disconnects after the test. */
export class RemotePeer extends Peer {
  readonly socket: WebSocket;
  readonly ended: Promise<SocketClose>;

  constructor(url: string, { headers = {}, ...options }: PeerOptions & { headers?: Record<string, string> } = {}) {
    const socket = new WebSocket(url, { headers });
    super(linkOf(socket), { greeting: 'server_connected', ...options });
    this.socket = socket;
    this.ended = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    );
    onTestFinished(() => socket.terminate());
  }

  /** The cursor with which the client would resume. */
  get cursor(): { epoch: string; after: number; session: string } {
    const greetings = this.records.filter(({ type }) => type === 'server_connected');
    const { epoch, sessionId, seq } = greetings.at(-1) as WireRecord & {
      epoch: string;
      sessionId: string;
      seq: number;
    };
    const received = this.records.slice(this.records.indexOf(greetings.at(-1) as WireRecord));
    const last = received.map((record) => Number(record['seq'] ?? 0)).reduce((a, b) => Math.max(a, b), seq);
    return { epoch, after: last, session: sessionId };
  }

  /** Closes the WebSocket with code 1000. */
  async disconnect(): Promise<SocketClose> {
    this.socket.close(1000);
    return this.ended;
  }

  /** The types of all received events, in order. */
  get eventTypes(): string[] {
    return this.records.map(({ type }) => type).filter((type) => type !== 'response');
  }
}

/** A link with one record per message; writes wait until the socket is open. */
function linkOf(socket: WebSocket): Link {
  const waiting: string[] = [];
  socket.on('open', () => {
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.on('error', () => {});
  return {
    write: (text) => {
      if (socket.readyState === WebSocket.CONNECTING) waiting.push(text);
      else if (socket.readyState === WebSocket.OPEN) socket.send(text);
      return true;
    },
    onDrain: () => {},
    flush: () => Promise.resolve(),
    onLine: (listener) => void socket.on('message', (data) => listener({ text: data.toString() })),
    onEnd: (listener) => void socket.on('close', listener),
    onClose: (listener) => void socket.on('close', listener),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
    close: () => socket.close(1000),
  };
}
