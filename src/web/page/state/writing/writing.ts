import { type Signal, signal } from '@preact/signals';
import type { Attachment } from './attachment.ts';
import { rewritten, Waiting } from './waiting.ts';

/** What is sent as one message, as it was written. */
export interface Written {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** What a command had to say. */
export interface Reply {
  readonly command: string;
  readonly text: string;
}

/** A message that waits in the queue and is being changed. */
export interface QueueChange {
  readonly queueId: string;
  readonly before: string;
  readonly message: string;
}

/** Whether there is something in a change that is worth to be kept. */
export const isChanged = ({ before, message }: QueueChange): boolean => message !== before && message.trim() !== '';

/** Texts that were said from here and are kept. */
const MAX_SAID = 200;

/** What is being written in a session: its words, what is attached to them, and what was said before. */
export class Writing {
  readonly text: Signal<string>;
  readonly attachments: Signal<readonly Attachment[]> = signal([]);
  /** Why something was not attached or not sent. */
  readonly problem: Signal<string | undefined> = signal(undefined);
  /** Files that are being read, to be attached. */
  readonly reading: Signal<number> = signal(0);
  readonly reply: Signal<Reply | undefined> = signal(undefined);
  readonly change: Signal<QueueChange | undefined> = signal(undefined);
  readonly waiting = new Waiting();
  #said: readonly string[] = [];
  #browsing: { readonly said: readonly string[]; readonly at: number } | undefined;

  constructor(text: Signal<string>) {
    this.text = text;
  }

  /** What was said from here, and what was put aside; the newest first. */
  get said(): readonly string[] {
    return this.#said;
  }

  get isEmpty(): boolean {
    return this.text.value.trim() === '' && this.attachments.value.length === 0;
  }

  /** Whether there is something to send, and all of it. */
  get isReady(): boolean {
    return !this.isEmpty && this.reading.value === 0;
  }

  /** Takes all of it out of the box. */
  take(): Written {
    const { value: attachments } = this.attachments;
    this.attachments.value = [];
    return { text: this.takeWords(), attachments };
  }

  /** Takes the words out of the box; what is attached waits for a message. */
  takeWords(): string {
    const { value: text } = this.text;
    this.text.value = '';
    this.problem.value = undefined;
    this.reply.value = undefined;
    this.#putAside(text);
    return text;
  }

  /** It was not taken: it stands before whatever was written meanwhile. */
  giveBack(written: Written): void {
    this.text.value = [written.text, this.text.value].filter((text) => text.trim() !== '').join('\n\n');
    this.attachments.value = [...written.attachments, ...this.attachments.value];
  }

  /** The same for messages that waited, in their order. Answers whether the one that was being changed is among them. */
  giveBackAll(messages: readonly string[], change?: QueueChange): boolean {
    const changed = change ? messages.indexOf(change.before) : -1;
    for (const [at, message] of [...messages.entries()].reverse()) {
      const written = this.waiting.take(message);
      this.giveBack(change && at === changed && isChanged(change) ? rewritten(written, change.message) : written);
    }
    return changed !== -1;
  }

  /** Puts words behind whatever is written. */
  append(text: string): void {
    this.text.value = [this.text.value, text].filter((part) => part !== '').join('\n\n');
  }

  /** Puts another text in the place of this one, which is among what was said from now on. */
  replace(text: string): void {
    this.#putAside(this.text.value);
    this.text.value = text;
  }

  attach(attachment: Attachment): void {
    this.attachments.value = [...this.attachments.value, attachment];
  }

  detach(attachment: Attachment): void {
    this.attachments.value = this.attachments.value.filter((other) => other !== attachment);
  }

  /** Goes to what was said before that; answers whether that is what is being done. */
  older(said: () => readonly string[]): boolean {
    const browsing = this.#current ?? (this.text.value === '' ? { said: said(), at: -1 } : undefined);
    if (!browsing) return false;
    const at = Math.min(browsing.at + 1, browsing.said.length - 1);
    return this.#show({ ...browsing, at });
  }

  /** The same towards what was said last, and then the empty box. */
  newer(): boolean {
    const browsing = this.#current;
    return browsing ? this.#show({ ...browsing, at: browsing.at - 1 }) : false;
  }

  /** What was changed is no longer something that was said. */
  get #current() {
    const { said, at } = this.#browsing ?? { said: [], at: -1 };
    return this.text.value !== '' && said[at] === this.text.value ? this.#browsing : undefined;
  }

  #show(browsing: { readonly said: readonly string[]; readonly at: number }): boolean {
    this.#browsing = browsing;
    this.text.value = browsing.said[browsing.at] ?? '';
    return browsing.said.length > 0;
  }

  #putAside(text: string): void {
    if (text.trim() !== '') this.#said = [text, ...this.#said.filter((other) => other !== text)].slice(0, MAX_SAID);
  }
}
