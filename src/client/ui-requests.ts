import { isDialogMethod } from '../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { RecentIds } from './recent-ids.ts';

/** What the user said: text to `select`, `input` and `editor`, yes or no to `confirm`; undefined calls the dialog off. */
export type UiAnswer = string | boolean | undefined;

/**
 * Shows something to the user, and answers where that is asked for. One that throws calls its dialog off. The signal
 * aborts when the dialog is over without it: no answer is wanted any more.
 */
export type UiHandler = (
  request: ExtensionUiRequestEvent,
  context: { readonly signal: AbortSignal },
) => UiAnswer | Promise<UiAnswer>;

/** Hands what is to be shown to the last handler, and sends what comes of it. */
export class UiRequests {
  readonly #send: (response: ExtensionUiResponse) => void;
  #handlers: readonly { readonly handle: UiHandler }[] = [];
  readonly #openDialogs = new Map<string, AbortController>();
  /** They may be asked again before their answers are there. */
  readonly #answeredIds = new RecentIds();
  /** Those that were open before the snapshot and have not been told again since. */
  #staleIds: ReadonlySet<string> = new Set();

  constructor(send: (response: ExtensionUiResponse) => void) {
    this.#send = send;
  }

  /** The returned function takes the handler back; the one before it answers again. */
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

  /** A snapshot follows, with the dialogs that still wait. */
  markStale(): void {
    this.#staleIds = new Set(this.#openDialogs.keys());
  }

  /** The snapshot is whole: what it does not have is over. */
  abortStale(): void {
    for (const id of this.#staleIds) this.#abort(id);
    this.#staleIds = new Set();
  }

  /** The agent is gone. */
  abortAll(reason: Error): void {
    for (const id of [...this.#openDialogs.keys()]) this.#abort(id, reason);
  }

  #handleRequest(request: ExtensionUiRequestEvent): void {
    const handle = this.#handlers.at(-1)?.handle;
    this.#staleIds = new Set([...this.#staleIds].filter((id) => id !== request.id));
    // A dialog that waits is shown again to a client that comes back.
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
