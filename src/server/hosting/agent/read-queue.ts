import type { Subscriber } from '../../sessions.ts';

// Reads of one client that an agent gets at a time; the others wait in the server.
const MAX_READS_PER_CLIENT = 2;

// Reads of all clients that an agent gets at a time.
const MAX_READS_PER_AGENT = 4;

interface WaitingRead {
  // Sends the read; `done` must be called when its response has arrived.
  readonly send: (done: () => void) => void;
  // Responds to a read that will not be sent.
  readonly drop: () => void;
}

// The client of a read; undefined: the server itself.
type Reader = Subscriber | undefined;

/** Limits the reads that an agent works on. Clients take turns; a client with unread output waits. */
export class ReadQueue {
  readonly #waiting = new Map<Reader, WaitingRead[]>();
  readonly #sent = new Map<Reader, number>();
  #sentCount = 0;

  /** Whether a client has a read that waits for its turn or for its response. */
  get hasClientReads(): boolean {
    return [...this.#waiting.keys(), ...this.#sent.keys()].some((reader) => reader !== undefined);
  }

  /** Whether the agent has a read without a response. */
  get isAgentReading(): boolean {
    return this.#sentCount > 0;
  }

  add(reader: Reader, read: WaitingRead): void {
    const waiting = this.#waiting.get(reader);
    if (waiting) waiting.push(read);
    else this.#waiting.set(reader, [read]);
    this.sendNext();
  }

  /** Sends as many waiting reads as the limits allow. */
  sendNext(): void {
    for (let next = this.#takeNext(); next; next = this.#takeNext()) {
      const { reader, read } = next;
      this.#count(reader, 1);
      let isDone = false;
      read.send(() => {
        if (isDone) return;
        isDone = true;
        this.#count(reader, -1);
        this.sendNext();
      });
    }
  }

  /** Drops the waiting reads of a client. */
  cancel(reader: Subscriber): void {
    const waiting = this.#waiting.get(reader) ?? [];
    this.#waiting.delete(reader);
    for (const read of waiting) read.drop();
  }

  /** Drops all waiting reads. */
  cancelAll(): void {
    const waiting = [...this.#waiting.values()].flat();
    this.#waiting.clear();
    for (const read of waiting) read.drop();
  }

  /** Takes the next read. Its client goes to the end of the order. */
  #takeNext(): { readonly reader: Reader; readonly read: WaitingRead } | undefined {
    if (this.#sentCount >= MAX_READS_PER_AGENT) return undefined;
    for (const [reader, [read, ...rest]] of this.#waiting) {
      if (!read || reader?.isBehind || (this.#sent.get(reader) ?? 0) >= MAX_READS_PER_CLIENT) continue;
      this.#waiting.delete(reader);
      if (rest.length > 0) this.#waiting.set(reader, rest);
      return { reader, read };
    }
    return undefined;
  }

  #count(reader: Reader, change: 1 | -1): void {
    this.#sentCount += change;
    const count = (this.#sent.get(reader) ?? 0) + change;
    if (count > 0) this.#sent.set(reader, count);
    else this.#sent.delete(reader);
  }
}
