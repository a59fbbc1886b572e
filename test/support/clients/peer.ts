import { expect } from 'vitest';
import { toLine } from '../../../src/wire/json-lines.ts';
import type { Link } from '../../../src/wire/link.ts';
import { assertValid, logCrossing } from '../protocol/wire-log.ts';

export type WireRecord = Record<string, unknown> & { type: string };
export type RecordMatch = string | ((record: WireRecord) => boolean);

const frameTypes = new Set(['extension_ui_response', 'host_tool_update', 'host_tool_result', 'entries_kept']);

export interface PeerOptions {
  /** Accepts fields of other programs: records are not validated. */
  readonly hasForeignFields?: boolean | undefined;
  /** Type of the record that ends the greeting. */
  readonly greeting?: string;
  /** Keeps records as the agent sent them: without `seq`, and without snapshots that a server sends later. */
  readonly hidesServerFields?: boolean;
}

/** A client that keeps every record and validates it against the protocol. */
export class Peer {
  readonly records: WireRecord[] = [];
  readonly #link: Link;
  #cursor = 0;
  #ids = 0;
  #waiting: (() => void)[] = [];
  #closed = false;
  #failure: Error | undefined;
  readonly #greeting: string;

  constructor(link: Link, options: PeerOptions = {}) {
    this.#link = link;
    this.#greeting = options.greeting ?? 'ready';
    link.onLine((line) => {
      if (!('text' in line)) throw new Error('tau sent a line that is too long');
      try {
        const record = JSON.parse(line.text) as WireRecord;
        // Sessions of other programs may hold fields that the protocol does not define.
        if (!options.hasForeignFields) assertValid(record);
        this.records.push(...(options.hidesServerFields ? this.#withoutServerFields(record) : [record]));
      } catch (error) {
        this.#failure ??= error as Error;
      }
      this.#notify();
    });
    const onClose = () => {
      this.#closed = true;
      this.#notify();
    };
    link.onEnd(onClose);
    link.onClose(onClose);
  }

  /** Settles when the greeting has arrived. */
  async greeted(): Promise<void> {
    await this.find(this.#greeting);
  }

  /** Sends a value as one line, or text unchanged. */
  send(value: unknown): void {
    if (typeof value === 'string') {
      this.#link.write(value);
      return;
    }
    const type = (value as { type?: unknown } | null)?.type;
    if (typeof type === 'string' && frameTypes.has(type)) logCrossing('frame', type);
    this.#link.write(toLine(value as object));
  }

  /** Sends a command, with an id unless it has one, and returns its response. */
  async request(command: { type: string; id?: unknown } & Record<string, unknown>): Promise<WireRecord> {
    const id = Object.hasOwn(command, 'id') ? command.id : `t${++this.#ids}`;
    this.send({ id, ...command });
    const same = JSON.stringify(id);
    return this.find((record) => record.type === 'response' && JSON.stringify(record['id']) === same);
  }

  /** Sends a command that must succeed and returns its data. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async ok(command: { type: string } & Record<string, unknown>): Promise<any> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response)).toMatchObject({ success: true, command: command.type });
    return response['data'];
  }

  /** Sends a command that must fail and returns the response. */
  async refused(command: { type: string } & Record<string, unknown>): Promise<WireRecord> {
    const response = await this.request(command);
    expect(response, JSON.stringify(response)).toMatchObject({ success: false });
    return response;
  }

  /** Returns the next record that matches, after the one that `next` returned before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever comes back
  async next(match: RecordMatch): Promise<any> {
    const index = await this.#indexOfMatch(match, this.#cursor);
    this.#cursor = index + 1;
    return this.records[index];
  }

  /** Returns the first record that matches. */
  async find(match: RecordMatch): Promise<WireRecord> {
    const record = this.records[await this.#indexOfMatch(match, 0)];
    if (!record) throw new Error('unreachable');
    return record;
  }

  /** Sends a prompt, waits until its run has settled and returns the records from the response to the end. */
  async run(prompt: string | ({ message: string } & Record<string, unknown>)): Promise<WireRecord[]> {
    await this.greeted();
    const start = this.records.length;
    await this.ok({ type: 'prompt', ...(typeof prompt === 'string' ? { message: prompt } : prompt) });
    const end = await this.#indexOfMatch('agent_settled', start);
    this.#cursor = end + 1;
    return this.records.slice(start, end + 1);
  }

  /** Settles when the other side has closed the connection. */
  async closed(): Promise<void> {
    while (!this.#closed) await this.#nextChange();
    if (this.#failure) throw this.#failure;
  }

  end(): void {
    this.#link.close();
  }

  get link(): Link {
    return this.#link;
  }

  #withoutServerFields({ seq, ...record }: WireRecord): WireRecord[] {
    if (record.type === 'server_connected') return [{ ...record, seq }];
    const isFirstSnapshot = record.type !== 'state_synced' || this.records.at(-1)?.type === 'server_connected';
    return isFirstSnapshot ? [record] : [];
  }

  async #indexOfMatch(match: RecordMatch, from: number): Promise<number> {
    const matches = typeof match === 'string' ? (record: WireRecord) => record.type === match : match;
    for (let index = from; ; index++) {
      while (index >= this.records.length) {
        if (this.#failure) throw this.#failure;
        if (this.#closed) throw new Error(`The connection closed before ${match} came. Last: ${this.#tail()}`);
        await this.#nextChange();
      }
      const record = this.records[index];
      if (record && matches(record)) return index;
    }
  }

  #tail(): string {
    return this.records
      .slice(-5)
      .map((record) => JSON.stringify(record).slice(0, 300))
      .join('\n');
  }

  #nextChange(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve();
  }
}

/** The types of records, in order; streaming steps as `message_update:<step>`, deltas of one block once. */
export function outline(records: readonly WireRecord[]): string[] {
  const names = records.map((record) => {
    if (record.type !== 'message_update') return record.type;
    return `message_update:${(record['assistantMessageEvent'] as { type: string }).type}`;
  });
  return names.filter((name, index) => !(name.endsWith('_delta') && names[index - 1] === name));
}
