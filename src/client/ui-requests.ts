import { isDialogMethod } from '../protocol/dialog-methods.ts';
import type {
  AgentEvent,
  Approval,
  ExtensionUiRequestEvent,
  ExtensionUiResponse,
} from '../protocol/generated/vocabulary.ts';
import { AnsweredDialogs } from './answered-dialogs.ts';

/** The answer to an approval: one of its options, and for a denial a message to the model. */
export interface ApprovalAnswer {
  readonly optionId: string;
  readonly message?: string | undefined;
}

/**
 * The answer to a dialog: a boolean for `confirm`, text for the others, also an option of an approval; undefined cancels
 * the dialog and denies an approval.
 */
export type UiAnswer = string | boolean | ApprovalAnswer | undefined;

/** A question whether a tool call may run. */
export type ApprovalRequest = Extract<ExtensionUiRequestEvent, { method: 'select' }> & { readonly approval: Approval };

/** Whether the request is a question about a tool call; without options it is a plain dialog. */
export const isApprovalRequest = (request: ExtensionUiRequestEvent): request is ApprovalRequest =>
  request.method === 'select' && Array.isArray(request.approval?.options) && request.approval.options.length > 0;

/** Shows a request and returns the answer to a dialog. Errors cancel it; the signal aborts when it ends elsewhere. */
export type UiHandler = (
  request: ExtensionUiRequestEvent,
  context: { readonly signal: AbortSignal },
) => UiAnswer | Promise<UiAnswer>;

/** Passes UI requests to the newest handler and sends its answers. */
export class UiRequests {
  readonly #send: (response: ExtensionUiResponse) => void;
  #handlers: readonly { readonly handle: UiHandler }[] = [];
  readonly #openDialogs = new Map<string, AbortController>();
  readonly #answered = new AnsweredDialogs();
  /** Dialogs that were open before the snapshot and have not appeared in it yet. */
  #staleIds: ReadonlySet<string> = new Set();

  constructor(send: (response: ExtensionUiResponse) => void) {
    this.#send = send;
  }

  /** The returned function removes the handler; the previous one becomes active again. */
  add(handle: UiHandler): () => void {
    const own = { handle };
    this.#handlers = [...this.#handlers, own];
    return () => {
      this.#handlers = this.#handlers.filter((other) => other !== own);
    };
  }

  handleEvent(event: AgentEvent): void {
    const isRepeated = this.#answered.isRepeated(event);
    if (event.type === 'extension_ui_request') this.#handleRequest(event, isRepeated);
    if (event.type === 'extension_ui_resolved') this.#abort(event.id);
  }

  /** A snapshot follows, which repeats the dialogs that are still open. */
  markStale(): void {
    this.#staleIds = new Set(this.#openDialogs.keys());
  }

  /** The snapshot is complete: dialogs missing from it are over. */
  abortStale(): void {
    for (const id of this.#staleIds) this.#abort(id);
    this.#staleIds = new Set();
  }

  abortAll(reason: Error): void {
    for (const id of [...this.#openDialogs.keys()]) this.#abort(id, reason);
  }

  #handleRequest(request: ExtensionUiRequestEvent, isRepeated: boolean): void {
    const handle = this.#handlers.at(-1)?.handle;
    this.#staleIds = new Set([...this.#staleIds].filter((id) => id !== request.id));
    // A reconnect repeats open dialogs.
    const isKnown = this.#openDialogs.has(request.id) || isRepeated;
    if (handle && !isKnown) void this.#runHandler(request, handle);
  }

  async #runHandler(request: ExtensionUiRequestEvent, handle: UiHandler): Promise<void> {
    const { id, method } = request;
    const controller = new AbortController();
    if (isDialogMethod(method)) this.#openDialogs.set(id, controller);
    let answer: UiAnswer;
    try {
      answer = await handle(request, { signal: controller.signal });
    } catch {
      answer = undefined;
    }
    if (!this.#openDialogs.delete(id)) return;
    this.#answered.add(id);
    this.#send({ type: 'extension_ui_response', id, ...answerFields(answer) });
  }

  #abort(id: string, reason?: Error): void {
    const controller = this.#openDialogs.get(id);
    this.#openDialogs.delete(id);
    controller?.abort(reason);
  }
}

function answerFields(answer: UiAnswer): Omit<ExtensionUiResponse, 'type' | 'id'> {
  if (typeof answer === 'string') return { value: answer };
  if (typeof answer === 'boolean') return { confirmed: answer };
  // Of an untyped handler the answer may be null.
  if (!answer) return { cancelled: true };
  const { optionId, message } = answer;
  return { value: optionId, ...(message === undefined ? {} : { message }) };
}
