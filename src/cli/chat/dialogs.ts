import { isApprovalRequest, type UiAnswer } from '../../client/ui-requests.ts';
import { dialogMethods } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { printApproval } from './approval-text.ts';
import { type DialogRequest, dialogText, isDialog, parseAnswer } from './dialog-text.ts';
import type { Printer } from './printer.ts';

/** The UI methods that the chat supports. */
export const CHAT_UI_METHODS = [...dialogMethods, 'notify', 'open_url'];

interface OpenQuestion {
  readonly dialog: DialogRequest;
  // The lines typed so far.
  readonly lines: string[];
  readonly resolve: (answer: UiAnswer) => void;
}

/** Shows dialogs on the terminal, one after another. */
export class TerminalDialogs {
  readonly #printer: Printer;
  readonly #onApprovalExpired: () => void;
  /** The first one is on screen. */
  #questions: readonly OpenQuestion[] = [];

  /** `onApprovalExpired`: text that was typed for an approval on screen must not reach the next question. */
  constructor(printer: Printer, onApprovalExpired: () => void = () => {}) {
    this.#printer = printer;
    this.#onApprovalExpired = onApprovalExpired;
  }

  /** Whether the next typed line is an answer. */
  get isOpen(): boolean {
    return this.#questions.length > 0;
  }

  /** Whether the question on screen is about a tool call. */
  get isApproval(): boolean {
    const [question] = this.#questions;
    return question !== undefined && isApprovalRequest(question.dialog);
  }

  /** Prints a notice, or shows a dialog and resolves with its answer. */
  show(request: ExtensionUiRequestEvent, signal: AbortSignal): UiAnswer | Promise<UiAnswer> {
    if (isDialog(request)) return this.#open(request, signal);
    if (request.method === 'notify' && request.notifyType === 'error') this.#printer.failure(request.message);
    else if (request.method === 'notify') this.#printer.note(request.message);
    else if (request.method === 'open_url')
      this.#printer.note([request.instructions, request.url].filter(Boolean).join('\n'));
    return undefined;
  }

  /** Handles a line typed for the dialog on screen. */
  handleLine(text: string): void {
    const [question] = this.#questions;
    if (!question) return;
    question.lines.push(text);
    const parsed = parseAnswer(question.lines, question.dialog);
    if ('answer' in parsed) this.#close(question, parsed.answer);
    else if (parsed.hint !== undefined) this.#printer.note(parsed.hint);
  }

  /** Cancels the dialog on screen. */
  cancel(): void {
    const [question] = this.#questions;
    if (question) this.#close(question, undefined);
  }

  #open(dialog: DialogRequest, signal: AbortSignal): Promise<UiAnswer> {
    return new Promise((resolve) => {
      const question: OpenQuestion = { dialog, lines: [], resolve };
      signal.addEventListener('abort', () => this.#expire(question), { once: true });
      this.#questions = [...this.#questions, question];
      if (this.#questions[0] === question) this.#print(dialog);
    });
  }

  /** Another client has answered, or the dialog timed out. */
  #expire(question: OpenQuestion): void {
    const isOnScreen = this.#questions[0] === question;
    if (isOnScreen) this.#printer.note('(This question is closed.)');
    if (isOnScreen && this.isApproval) this.#onApprovalExpired();
    this.#close(question, undefined);
  }

  #close(question: OpenQuestion, answer: UiAnswer): void {
    const [before] = this.#questions;
    this.#questions = this.#questions.filter((other) => other !== question);
    question.resolve(answer);
    const [next] = this.#questions;
    if (next && next !== before) this.#print(next.dialog);
  }

  #print(dialog: DialogRequest): void {
    if (isApprovalRequest(dialog)) printApproval(dialog.approval, this.#printer);
    else this.#printer.note(dialogText(dialog));
  }
}
