import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import type { Link } from '../../src/wire/link.ts';
import { Peer, type PeerOptions, type Record_ } from './peer.ts';

/** How a connection ended. */
export interface Ending {
  readonly code: number;
  readonly reason: string;
}

/** A client on a WebSocket that knows nothing of reconnecting. It is gone after the test. */
export class RemotePeer extends Peer {
  readonly socket: WebSocket;
  readonly ended: Promise<Ending>;

  constructor(url: string, { headers = {}, ...options }: PeerOptions & { headers?: Record<string, string> } = {}) {
    const socket = new WebSocket(url, { headers });
    super(linkOf(socket), { opening: 'server_connected', ...options });
    this.socket = socket;
    this.ended = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() })),
    );
    onTestFinished(() => socket.terminate());
  }

  /** Where the client has got to, as it would say when it comes back. */
  get cursor(): { epoch: string; after: number; session: string } {
    const greetings = this.records.filter(({ type }) => type === 'server_connected');
    const { epoch, sessionId, seq } = greetings.at(-1) as Record_ & { epoch: string; sessionId: string; seq: number };
    const heard = this.records.slice(this.records.indexOf(greetings.at(-1) as Record_));
    const last = heard.map((record) => Number(record['seq'] ?? 0)).reduce((a, b) => Math.max(a, b), seq);
    return { epoch, after: last, session: sessionId };
  }

  /** Leaves in good order. */
  async leave(): Promise<Ending> {
    this.socket.close(1000);
    return this.ended;
  }

  /** The types of what it was told, in order, without answers. */
  get told(): string[] {
    return this.records.map(({ type }) => type).filter((type) => type !== 'response');
  }
}

/** One record per message; what is written before the socket is open waits. */
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
