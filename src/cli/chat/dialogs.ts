import type { UiAnswer } from '../../client/ui-requests.ts';
import { dialogMethods } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import type { Printer } from './printer.ts';
import { type DialogRequest, isDialog, parseAnswer, dialogText } from './dialog-text.ts';

/** What the chat can show of what extensions want shown. */
export const CHAT_UI_METHODS = [...dialogMethods, 'notify'];

/** A dialog that waits for its answer. */
interface OpenQuestion {
  readonly dialog: DialogRequest;
  /** What has been typed for it so far. */
  readonly lines: string[];
  readonly resolve: (answer: UiAnswer) => void;
}

/** Asks whoever sits at the terminal, one question after another. */
export class TerminalDialogs {
  readonly #printer: Printer;
  /** The first one is being asked. */
  #questions: readonly OpenQuestion[] = [];

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  /** Whether the next line that is typed is an answer. */
  get isOpen(): boolean {
    return this.#questions.length > 0;
  }

  /** Shows a notice, or asks and waits for the answer. */
  show(request: ExtensionUiRequestEvent, signal: AbortSignal): UiAnswer | Promise<UiAnswer> {
    if (isDialog(request)) return this.#open(request, signal);
    if (request.method === 'notify' && request.notifyType === 'error') this.#printer.failure(request.message);
    else if (request.method === 'notify') this.#printer.note(request.message);
    return undefined;
  }

  /** Takes a line that was typed for the question that is being asked. */
  handleLine(text: string): void {
    const [question] = this.#questions;
    if (!question) return;
    question.lines.push(text);
    const parsed = parseAnswer(question.lines, question.dialog);
    if ('answer' in parsed) this.#close(question, parsed.answer);
    else if (parsed.hint !== undefined) this.#printer.note(parsed.hint);
  }

  /** Calls off the question that is being asked. */
  cancel(): void {
    const [question] = this.#questions;
    if (question) this.#close(question, undefined);
  }

  #open(dialog: DialogRequest, signal: AbortSignal): Promise<UiAnswer> {
    return new Promise((resolve) => {
      const question: OpenQuestion = { dialog, lines: [], resolve };
      signal.addEventListener('abort', () => this.#expire(question), { once: true });
      this.#questions = [...this.#questions, question];
      if (this.#questions[0] === question) this.#printer.note(dialogText(dialog));
    });
  }

  /** Somebody else has answered, or the time is up. */
  #expire(question: OpenQuestion): void {
    if (this.#questions[0] === question) this.#printer.note('(That is no longer asked.)');
    this.#close(question, undefined);
  }

  #close(question: OpenQuestion, answer: UiAnswer): void {
    const [before] = this.#questions;
    this.#questions = this.#questions.filter((other) => other !== question);
    question.resolve(answer);
    const [next] = this.#questions;
    if (next && next !== before) this.#printer.note(dialogText(next.dialog));
  }
}
