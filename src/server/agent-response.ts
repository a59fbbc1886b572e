import type { ErrorCode, Refusal } from '../protocol/errors.ts';

const RESPONSE_HEAD = /^\{"id":"(\d+)",("type":"response","command":"\w+","success":(true|false))/;

/** The response of an agent to one request; long responses are forwarded as text without being parsed. */
export class AgentResponse {
  readonly success: boolean;
  /** The line from `"type"` on. */
  readonly #rest: string;

  private constructor(success: boolean, rest: string) {
    this.success = success;
    this.#rest = rest;
  }

  /** Parses a response line of an agent and the number of its request; undefined for other lines. */
  static parse(line: string): { readonly id: string; readonly response: AgentResponse } | undefined {
    const [, id, , success] = RESPONSE_HEAD.exec(line) ?? [];
    if (id === undefined) return undefined;
    return { id, response: new AgentResponse(success === 'true', line.slice(line.indexOf(',') + 1)) };
  }

  /** Builds the same from a parsed record whose fields stand in another order. */
  static from({ id: _id, ...record }: Readonly<Record<string, unknown>>): AgentResponse {
    return new AgentResponse(record['success'] === true, JSON.stringify({ type: 'response', ...record }).slice(1));
  }

  static success(command: string, data?: object): AgentResponse {
    return AgentResponse.from({ command, success: true, ...(data === undefined ? {} : { data }) });
  }

  static refusal(command: string, { message, code }: Refusal | { message: string; code: ErrorCode }): AgentResponse {
    return AgentResponse.from({ command, success: false, error: message, code });
  }

  /** The line for a client that gave its request this id. */
  toText(id: unknown): string {
    return id === undefined ? `{${this.#rest}` : `{"id":${JSON.stringify(id)},${this.#rest}`;
  }

  record(): Record<string, unknown> {
    return JSON.parse(`{${this.#rest}`) as Record<string, unknown>;
  }

  // biome-ignore lint/suspicious/noExplicitAny: each command has data of its own, and the agent has made it
  data(): any {
    return this.record()['data'];
  }

  /** The JSON of one field of `data` if it stands first in it; undefined otherwise. */
  firstField(name: string): string | undefined {
    const start = this.#rest.indexOf('"data":{');
    const field = `"data":{"${name}":`;
    if (start === -1 || !this.#rest.startsWith(field, start) || !this.#rest.endsWith('}}')) return undefined;
    return this.#rest.slice(start + field.length, -2);
  }
}
