import type { AgentEvent, AssistantMessage } from '../protocol/generated/vocabulary.ts';

interface RecordOptions {
  readonly seq?: number | undefined;
  /** The line as the agent wrote it. */
  readonly text?: string;
  readonly messageSoFar?: AssistantMessage | undefined;
}

/** Something that happened in a session, as it goes out. It is written once in each form, however many clients want it. */
export class SessionRecord {
  readonly event: AgentEvent;
  /** Undefined when it is told again to one who came later. */
  readonly seq: number | undefined;
  /** The message after it, if it is a step of a streaming answer. */
  readonly messageSoFar: AssistantMessage | undefined;
  readonly #encodings = new Map<string, Buffer>();

  constructor(event: AgentEvent, options: RecordOptions = {}) {
    this.seq = options.seq;
    this.event = event;
    this.messageSoFar = options.messageSoFar;
    if (options.text !== undefined) this.#encodings.set(PLAIN_FORM, Buffer.from(withSeq(options.text, options.seq)));
  }

  /** As the agent said it, with its number. */
  get bytes(): Buffer {
    return this.encodedAs(PLAIN_FORM, () => this.event);
  }

  /** In another form, which is known by its name. */
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
