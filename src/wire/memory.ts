import { type InputLine, LineReader, MAX_LINE_BYTES, MAX_RECORD_BYTES } from './json-lines.ts';
import type { Link } from './link.ts';

// Characters that may wait for a paused peer before `write` returns false.
const HIGH_WATER_CHARACTERS = 64 * 1024;

/**
 * Creates the agent's and the client's end of a link inside one process. Text arrives as over a socket: asynchronously,
 * in order, with back-pressure.
 */
export function memoryPair(): [Link, Link] {
  const agentEnd = new MemoryLink(MAX_LINE_BYTES);
  const clientEnd = new MemoryLink(MAX_RECORD_BYTES);
  agentEnd.connect(clientEnd);
  clientEnd.connect(agentEnd);
  return [agentEnd, clientEnd];
}

class MemoryLink implements Link {
  readonly #reader: LineReader;
  readonly #encoder = new TextEncoder();
  readonly #inbox: string[] = [];
  #peer: MemoryLink | undefined;
  #queued = 0;
  #paused = false;
  #scheduled = false;
  #closed = false;
  #lineListener: (line: InputLine) => void = () => {};
  #drainListeners: (() => void)[] = [];
  #closeListeners: (() => void)[] = [];

  constructor(maxLineBytes: number) {
    this.#reader = new LineReader(maxLineBytes);
  }

  connect(peer: MemoryLink): void {
    this.#peer = peer;
  }

  write(text: string): boolean {
    return this.#peer?.receive(text) ?? false;
  }

  receive(text: string): boolean {
    if (this.#closed) return false;
    this.#inbox.push(text);
    this.#queued += text.length;
    this.#schedule();
    return this.#queued <= HIGH_WATER_CHARACTERS;
  }

  onDrain(listener: () => void): void {
    this.#drainListeners.push(listener);
  }

  flush(): Promise<void> {
    return Promise.resolve();
  }

  onLine(listener: (line: InputLine) => void): void {
    this.#lineListener = listener;
    this.#schedule();
  }

  onEnd(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  onClose(listener: () => void): void {
    this.#closeListeners.push(listener);
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    const peer = this.#peer;
    for (const listener of this.#closeListeners) listener();
    queueMicrotask(() => peer?.onPeerClose());
  }

  /** Delivers the last line of the closed peer, which may lack its LF, and closes this end too. */
  onPeerClose(): void {
    if (this.#closed) return;
    for (const line of this.#reader.end()) this.#lineListener(line);
    this.close();
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    this.#scheduled = false;
    while (!this.#paused) {
      const text = this.#inbox.shift();
      if (text === undefined) break;
      const wasFull = this.#queued > HIGH_WATER_CHARACTERS;
      this.#queued -= text.length;
      for (const line of this.#reader.push(this.#encoder.encode(text))) this.#lineListener(line);
      if (wasFull && this.#queued <= HIGH_WATER_CHARACTERS) this.#peer?.notifyDrain();
    }
  }

  notifyDrain(): void {
    for (const listener of this.#drainListeners) listener();
  }
}
