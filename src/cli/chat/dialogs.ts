import type { UiAnswer } from '../../client/ui-requests.ts';
import { dialogMethods } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import type { Printer } from './printer.ts';
import { type Dialog, isDialog, meaningOf, wordsOf } from './question.ts';

/** What the chat can show of what extensions want shown. */
export const SHOWN = [...dialogMethods, 'notify'];

/** A dialog that waits for its answer. */
interface Question {
  readonly dialog: Dialog;
  /** What has been typed for it so far. */
  readonly lines: string[];
  readonly end: (answer: UiAnswer) => void;
}

/** Asks whoever sits at the terminal, one question after another. */
export class Dialogs {
  readonly #printer: Printer;
  /** The first one is being asked. */
  #questions: readonly Question[] = [];

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** Whether the next line that is typed is an answer. */
  get isAsking(): boolean {
    return this.#questions.length > 0;
  }

  /** Shows a notice, or asks and waits for the answer. */
  show(request: ExtensionUiRequestEvent, signal: AbortSignal): UiAnswer | Promise<UiAnswer> {
    if (isDialog(request)) return this.#ask(request, signal);
    if (request.method === 'notify' && request.notifyType === 'error') this.#printer.failure(request.message);
    else if (request.method === 'notify') this.#printer.note(request.message);
    return undefined;
  }

  /** Takes a line that was typed for the question that is being asked. */
  take(text: string): void {
    const [question] = this.#questions;
    if (!question) return;
    question.lines.push(text);
    const meaning = meaningOf(question.lines, question.dialog);
    if ('answer' in meaning) this.#close(question, meaning.answer);
    else if (meaning.hint !== undefined) this.#printer.note(meaning.hint);
  }

  /** Calls off the question that is being asked. */
  cancel(): void {
    const [question] = this.#questions;
    if (question) this.#close(question, undefined);
  }

  #ask(dialog: Dialog, signal: AbortSignal): Promise<UiAnswer> {
    return new Promise((resolve) => {
      const question: Question = { dialog, lines: [], end: resolve };
      signal.addEventListener('abort', () => this.#over(question), { once: true });
      this.#questions = [...this.#questions, question];
      if (this.#questions[0] === question) this.#printer.note(wordsOf(dialog));
    });
  }

  /** Somebody else has answered, or the time is up. */
  #over(question: Question): void {
    if (this.#questions[0] === question) this.#printer.note('(That is no longer asked.)');
    this.#close(question, undefined);
  }

  #close(question: Question, answer: UiAnswer): void {
    const [asked] = this.#questions;
    this.#questions = this.#questions.filter((other) => other !== question);
    question.end(answer);
    const [next] = this.#questions;
    if (next && next !== asked) this.#printer.note(wordsOf(next.dialog));
  }
}
