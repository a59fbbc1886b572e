import { type Signal, signal } from '@preact/signals';
import type { ConversationView } from '../../../../client/view/view.ts';
import { contentText } from '../../../untyped.ts';
import type { Attachment } from './attachment.ts';
import { QueuedDrafts, withText } from './queued-drafts.ts';

/** The text and attachments of one message as the user wrote it. */
export interface DraftContent {
  readonly text: string;
  readonly attachments: readonly Attachment[];
}

/** The output of a slash command. */
export interface SlashCommandOutput {
  readonly command: string;
  readonly text: string;
}

/** An edit of a queued message in progress. */
export interface QueueEdit {
  readonly queueId: string;
  readonly before: string;
  readonly message: string;
}

/** Whether an edit is worth keeping. */
export const hasChanges = ({ before, message }: QueueEdit): boolean => message !== before && message.trim() !== '';

const MAX_INPUT_HISTORY = 200;

/** The message being written in a session: text, attachments and input history. */
export class MessageDraft {
  readonly text: Signal<string>;
  readonly attachments: Signal<readonly Attachment[]> = signal([]);
  /** The reason why something was not attached or not sent. */
  readonly problem: Signal<string | undefined> = signal(undefined);
  /** The number of files being read. */
  readonly pendingFiles: Signal<number> = signal(0);
  readonly output: Signal<SlashCommandOutput | undefined> = signal(undefined);
  readonly queueEdit: Signal<QueueEdit | undefined> = signal(undefined);
  readonly queued = new QueuedDrafts();
  #history: readonly string[] = [];
  #browsing: { readonly entries: readonly string[]; readonly at: number } | undefined;

  constructor(text: Signal<string>) {
    this.text = text;
  }

  /** Sent and replaced texts of this tab, newest first. */
  get history(): readonly string[] {
    return this.#history;
  }

  get isEmpty(): boolean {
    return this.text.value.trim() === '' && this.attachments.value.length === 0;
  }

  /** Whether there is content and all files are read. */
  get isReady(): boolean {
    return !this.isEmpty && this.pendingFiles.value === 0;
  }

  /** Takes the text and the attachments out of the box. */
  take(): DraftContent {
    const { value: attachments } = this.attachments;
    this.attachments.value = [];
    return { text: this.takeText(), attachments };
  }

  /** Takes the text out of the box; attachments stay for the next message. */
  takeText(): string {
    const { value: text } = this.text;
    this.text.value = '';
    this.problem.value = undefined;
    this.output.value = undefined;
    this.#remember(text);
    return text;
  }

  /** Puts rejected content before the current text. */
  restore(content: DraftContent): void {
    this.text.value = [content.text, this.text.value].filter((text) => text.trim() !== '').join('\n\n');
    this.attachments.value = [...content.attachments, ...this.attachments.value];
  }

  /** Restores withdrawn queue messages in their order; returns whether the edited one is among them. */
  restoreQueued(messages: readonly string[], edit?: QueueEdit): boolean {
    const editedIndex = edit ? messages.indexOf(edit.before) : -1;
    for (const [at, message] of [...messages.entries()].reverse()) {
      const content = this.queued.take(message);
      this.restore(edit && at === editedIndex && hasChanges(edit) ? withText(content, edit.message) : content);
    }
    return editedIndex !== -1;
  }

  append(text: string): void {
    this.text.value = [this.text.value, text].filter((part) => part !== '').join('\n\n');
  }

  /** Replaces the text; the previous one goes into the input history. */
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

  /** Shows the previous history entry; returns whether history is being browsed. */
  older(history: () => readonly string[]): boolean {
    const browsing = this.#browsed ?? (this.text.value === '' ? { entries: history(), at: -1 } : undefined);
    if (!browsing) return false;
    const at = Math.min(browsing.at + 1, browsing.entries.length - 1);
    return this.#showEntry({ ...browsing, at });
  }

  /** Shows the next history entry, and then the empty box. */
  newer(): boolean {
    const browsing = this.#browsed;
    return browsing ? this.#showEntry({ ...browsing, at: browsing.at - 1 }) : false;
  }

  /** An edited entry ends the browsing. */
  get #browsed() {
    const { entries, at } = this.#browsing ?? { entries: [], at: -1 };
    return this.text.value !== '' && entries[at] === this.text.value ? this.#browsing : undefined;
  }

  #showEntry(browsing: { readonly entries: readonly string[]; readonly at: number }): boolean {
    this.#browsing = browsing;
    this.text.value = browsing.entries[browsing.at] ?? '';
    return browsing.entries.length > 0;
  }

  #remember(text: string): void {
    if (text.trim() !== '')
      this.#history = [text, ...this.#history.filter((other) => other !== text)].slice(0, MAX_INPUT_HISTORY);
  }
}

/**
 * Returns the sent texts of this tab and the prompts and shell lines of the session, newest first, without duplicates.
 */
export function inputHistory(messages: ConversationView['messages'], sentHere: readonly string[]): readonly string[] {
  const inSession = messages.toReversed().map((message) => {
    if (message.role === 'user') return contentText(message.content);
    if (message.role !== 'bashExecution') return '';
    return `${message.excludeFromContext ? '!!' : '!'}${message.command}`;
  });
  return [...new Set([...sentHere, ...inSession])].filter((text) => text.trim() !== '');
}
