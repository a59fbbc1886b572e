import { type Signal, signal } from '@preact/signals';
import type { Attachment } from './attachment.ts';
import { withText, QueuedDrafts } from './queued-drafts.ts';

/** What is sent as one message, as it was written. */
export interface DraftContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** What a command had to say. */
export interface SlashCommandOutput {
  readonly command: string;
  readonly text: string;
}

/** A message that waits in the queue and is being changed. */
export interface QueueEdit {
  readonly queueId: string;
  readonly before: string;
  readonly message: string;
}

/** Whether there is something in a change that is worth to be kept. */
export const hasChanges = ({ before, message }: QueueEdit): boolean => message !== before && message.trim() !== '';

/** Texts that were said from here and are kept. */
const MAX_INPUT_HISTORY = 200;

/** What is being written in a session: its words, what is attached to them, and what was said before. */
export class MessageDraft {
  readonly text: Signal<string>;
  readonly attachments: Signal<readonly Attachment[]> = signal([]);
  /** Why something was not attached or not sent. */
  readonly problem: Signal<string | undefined> = signal(undefined);
  /** Files that are being read, to be attached. */
  readonly pendingFiles: Signal<number> = signal(0);
  readonly output: Signal<SlashCommandOutput | undefined> = signal(undefined);
  readonly queueEdit: Signal<QueueEdit | undefined> = signal(undefined);
  readonly queued = new QueuedDrafts();
  #history: readonly string[] = [];
  #browsing: { readonly entries: readonly string[]; readonly at: number } | undefined;

  constructor(text: Signal<string>) {
    this.text = text;
  }

  /** What was said from here, and what was put aside; the newest first. */
  get history(): readonly string[] {
    return this.#history;
  }

  get isEmpty(): boolean {
    return this.text.value.trim() === '' && this.attachments.value.length === 0;
  }

  /** Whether there is something to send, and all of it. */
  get isReady(): boolean {
    return !this.isEmpty && this.pendingFiles.value === 0;
  }

  /** Takes all of it out of the box. */
  take(): DraftContent {
    const { value: attachments } = this.attachments;
    this.attachments.value = [];
    return { text: this.takeText(), attachments };
  }

  /** Takes the words out of the box; what is attached waits for a message. */
  takeText(): string {
    const { value: text } = this.text;
    this.text.value = '';
    this.problem.value = undefined;
    this.output.value = undefined;
    this.#remember(text);
    return text;
  }

  /** It was not taken: it stands before whatever was written meanwhile. */
  restore(content: DraftContent): void {
    this.text.value = [content.text, this.text.value].filter((text) => text.trim() !== '').join('\n\n');
    this.attachments.value = [...content.attachments, ...this.attachments.value];
  }

  /** The same for messages that waited, in their order. Answers whether the one that was being changed is among them. */
  restoreQueued(messages: readonly string[], edit?: QueueEdit): boolean {
    const editedIndex = edit ? messages.indexOf(edit.before) : -1;
    for (const [at, message] of [...messages.entries()].reverse()) {
      const content = this.queued.take(message);
      this.restore(edit && at === editedIndex && hasChanges(edit) ? withText(content, edit.message) : content);
    }
    return editedIndex !== -1;
  }

  /** Puts words behind whatever is written. */
  append(text: string): void {
    this.text.value = [this.text.value, text].filter((part) => part !== '').join('\n\n');
  }

  /** Puts another text in the place of this one, which is among what was said from now on. */
  replace(text: string): void {
    this.#remember(this.text.value);
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
    const browsing = this.#browsed ?? (this.text.value === '' ? { entries: said(), at: -1 } : undefined);
    if (!browsing) return false;
    const at = Math.min(browsing.at + 1, browsing.entries.length - 1);
    return this.#showEntry({ ...browsing, at });
  }

  /** The same towards what was said last, and then the empty box. */
  newer(): boolean {
    const browsing = this.#browsed;
    return browsing ? this.#showEntry({ ...browsing, at: browsing.at - 1 }) : false;
  }

  /** What was changed is no longer something that was said. */
  get #browsed() {
    const { entries: said, at } = this.#browsing ?? { entries: [], at: -1 };
    return this.text.value !== '' && said[at] === this.text.value ? this.#browsing : undefined;
  }

  #showEntry(browsing: { readonly entries: readonly string[]; readonly at: number }): boolean {
    this.#browsing = browsing;
    this.text.value = browsing.entries[browsing.at] ?? '';
    return browsing.entries.length > 0;
  }

  #remember(text: string): void {
    if (text.trim() !== '') this.#history = [text, ...this.#history.filter((other) => other !== text)].slice(0, MAX_INPUT_HISTORY);
  }
}
