import { expect } from 'vitest';
import { toLine } from '../../src/wire/json-lines.ts';
import type { Link } from '../../src/wire/link.ts';
import { assertValid, saw } from './wire-log.ts';

export type Record_ = Record<string, unknown> & { type: string };
export type Match = string | ((record: Record_) => boolean);

const frameTypes = new Set(['extension_ui_response', 'host_tool_update', 'host_tool_result']);

export interface PeerOptions {
  /** It is told of sessions that hold fields of other programs. */
  readonly foreign?: boolean | undefined;
  /** What it is told before anything is done. */
  readonly opening?: string;
  /**
   * Records are kept as an agent tells them: without the numbers of a server, and without the conversation that a server
   * tells anew when it has become another one.
   */
  readonly bare?: boolean;
}

/** A client that trusts nothing: it keeps every record, and every record is checked against the protocol. */
export class Peer {
  readonly records: Record_[] = [];
  readonly #link: Link;
  #cursor = 0;
  #ids = 0;
  #wake: (() => void)[] = [];
  #closed = false;
  #broken: Error | undefined;
  readonly #opening: string;

  constructor(link: Link, options: PeerOptions = {}) {
    this.#link = link;
    this.#opening = options.opening ?? 'ready';
    link.onLine((line) => {
      if (!('text' in line)) throw new Error('tau sent a line that is too long');
      try {
        const record = JSON.parse(line.text) as Record_;
        // Sessions written by other programs may hold fields that only they know.
        if (!options.foreign) assertValid(record);
        this.records.push(...(options.bare ? this.#bare(record) : [record]));
      } catch (error) {
        this.#broken ??= error as Error;
      }
      this.#notify();
    });
    const over = () => {
      this.#closed = true;
      this.#notify();
    };
    link.onEnd(over);
    link.onClose(over);
  }

  /** Settles when the other side has greeted: what comes now is about what is done. */
  async begun(): Promise<void> {
    await this.find(this.#opening);
  }

  /** Sends a value as one line, or text as it is. */
  send(value: unknown): void {
    if (typeof value === 'string') {
      this.#link.write(value);
      return;
    }
    const type = (value as { type?: unknown } | null)?.type;
    if (typeof type === 'string' && frameTypes.has(type)) saw('frame', type);
    this.#link.write(toLine(value as object));
  }

  /** Sends a command and waits for its answer, whatever it is. Gives it an id unless it has one. */
  async request(command: { type: string; id?: unknown } & Record<string, unknown>): Promise<Record_> {
    const id = Object.hasOwn(command, 'id') ? command.id : `t${++this.#ids}`;
    this.send({ id, ...command });
    const same = JSON.stringify(id);
    return this.find((record) => record.type === 'response' && JSON.stringify(record['id']) === same);
  }

  /** Sends a command that must succeed, and answers its data. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async ok(command: { type: string } & Record<string, unknown>): Promise<any> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response)).toMatchObject({ success: true, command: command.type });
    return response['data'];
  }

  /** Sends a command that must be refused, and answers the refusal. */
  async refused(command: { type: string } & Record<string, unknown>): Promise<Record_> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response)).toMatchObject({ success: false });
    return response;
  }

  /** The next record that fits, after those that `next` has answered before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(match: Match): Promise<any> {
    const index = await this.#search(match, this.#cursor);
    this.#cursor = index + 1;
    return this.records[index];
  }

  /** The first record of all that fits. */
  async find(match: Match): Promise<Record_> {
    const record = this.records[await this.#search(match, 0)];
    if (!record) throw new Error('unreachable');
    return record;
  }

  /** Sends a prompt and waits until its run has settled; answers every record from the answer to the end. */
  async run(prompt: string | ({ message: string } & Record<string, unknown>)): Promise<Record_[]> {
    await this.begun();
    const start = this.records.length;
    await this.ok({ type: 'prompt', ...(typeof prompt === 'string' ? { message: prompt } : prompt) });
    const end = await this.#search('agent_settled', start);
    this.#cursor = end + 1;
    return this.records.slice(start, end + 1);
  }

  /** Settles when the other side has closed. */
  async closed(): Promise<void> {
    while (!this.#closed) await this.#change();
    if (this.#broken) throw this.#broken;
  }

  end(): void {
    this.#link.close();
  }

  get link(): Link {
    return this.#link;
  }

  #bare({ seq, ...record }: Record_): Record_[] {
    if (record.type === 'server_connected') return [{ ...record, seq }];
    const isNews = record.type !== 'state_synced' || this.records.at(-1)?.type === 'server_connected';
    return isNews ? [record] : [];
  }

  async #search(match: Match, from: number): Promise<number> {
    const fits = typeof match === 'string' ? (record: Record_) => record.type === match : match;
    for (let index = from; ; index++) {
      while (index >= this.records.length) {
        if (this.#broken) throw this.#broken;
        if (this.#closed) throw new Error(`The connection closed before ${match} came. Last: ${this.#tail()}`);
        await this.#change();
      }
      const record = this.records[index];
      if (record && fits(record)) return index;
    }
  }

  #tail(): string {
    return this.records
      .slice(-5)
      .map((record) => JSON.stringify(record).slice(0, 300))
      .join('\n');
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = [];
    for (const resolve of wake) resolve();
  }
}

/** The types of records, in order; streaming steps as `message_update:<step>`, deltas of one block counted once. */
export function outline(records: readonly Record_[]): string[] {
  const names = records.map((record) => {
    if (record.type !== 'message_update') return record.type;
    return `message_update:${(record['assistantMessageEvent'] as { type: string }).type}`;
  });
  return names.filter((name, index) => !(name.endsWith('_delta') && names[index - 1] === name));
}
