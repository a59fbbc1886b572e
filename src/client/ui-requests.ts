import { isDialogMethod } from '../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { RecentIds } from './recent-ids.ts';

/** The answer to a dialog of an extension: a boolean for `confirm`, text for the others; undefined cancels. */
export type UiAnswer = string | boolean | undefined;

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
  /** A reconnect may repeat a dialog before its answer has arrived. */
  readonly #answeredIds = new RecentIds();
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
    if (event.type === 'extension_ui_request') this.#handleRequest(event);
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

  #handleRequest(request: ExtensionUiRequestEvent): void {
    const handle = this.#handlers.at(-1)?.handle;
    this.#staleIds = new Set([...this.#staleIds].filter((id) => id !== request.id));
    // A reconnect repeats open dialogs.
    const isKnown = this.#openDialogs.has(request.id) || this.#answeredIds.has(request.id);
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
    this.#answeredIds.add(id);
    this.#send({ type: 'extension_ui_response', id, ...answerFields(answer) });
  }

  #abort(id: string, reason?: Error): void {
    const controller = this.#openDialogs.get(id);
    this.#openDialogs.delete(id);
    controller?.abort(reason);
  }
}

function answerFields(answer: UiAnswer): Pick<ExtensionUiResponse, 'value' | 'confirmed' | 'cancelled'> {
  if (typeof answer === 'string') return { value: answer };
  return typeof answer === 'boolean' ? { confirmed: answer } : { cancelled: true };
}
