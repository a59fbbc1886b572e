import type { AgentEvent, AssistantMessage } from '../protocol/generated/vocabulary.ts';

interface RecordOptions {
  readonly seq?: number | undefined;
  readonly text?: string;
  readonly messageSoFar?: AssistantMessage | undefined;
}

/** An event of a session as it is sent. Each encoding is created once for all clients. */
export class SessionRecord {
  readonly event: AgentEvent;
  /** Undefined for an event that is repeated to a late client. */
  readonly seq: number | undefined;
  /** The assistant message after this event, if it updates one. */
  readonly messageSoFar: AssistantMessage | undefined;
  readonly #encodings = new Map<string, Buffer>();

  constructor(event: AgentEvent, options: RecordOptions = {}) {
    this.seq = options.seq;
    this.event = event;
    this.messageSoFar = options.messageSoFar;
    if (options.text !== undefined) this.#encodings.set(PLAIN_FORM, Buffer.from(withSeq(options.text, options.seq)));
  }

  /** The encoding with the agent's text and the sequence number. */
  get bytes(): Buffer {
    return this.encodedAs(PLAIN_FORM, () => this.event);
  }

  /** Another encoding, cached by name. */
  encodedAs(name: string, make: () => object): Buffer {
    const known = this.#encodings.get(name);
    if (known) return known;
    const { seq: _seq, ...event } = make() as { seq?: number };
    const bytes = Buffer.from(withSeq(JSON.stringify(event), this.seq));
    this.#encodings.set(name, bytes);
    return bytes;
  }
}

const PLAIN_FORM = 'plain';

const withSeq = (text: string, seq: number | undefined) =>
  seq === undefined ? text : `{"seq":${seq},${text.slice(1)}`;
