import type { AgentEvent, ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';

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

/** What waits for an answer. */
const DIALOGS: ReadonlySet<string> = new Set(['select', 'confirm', 'input', 'editor']);

/** Hands what is to be shown to the last handler, and sends what comes of it. */
export class UiRequests {
  readonly #send: (response: ExtensionUiResponse) => void;
  #handlers: readonly { readonly handle: UiHandler }[] = [];
  readonly #open = new Map<string, AbortController>();

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

  hear(event: AgentEvent): void {
    const handle = this.#handlers.at(-1)?.handle;
    // A dialog that waits is shown again to a client that comes back.
    if (event.type === 'extension_ui_request' && handle && !this.#open.has(event.id)) void this.#show(event, handle);
    if (event.type === 'extension_ui_resolved') this.#callOff(event.id);
  }

  /** The agent is gone. */
  leave(reason: Error): void {
    for (const id of [...this.#open.keys()]) this.#callOff(id, reason);
  }

  async #show(request: ExtensionUiRequestEvent, handle: UiHandler): Promise<void> {
    const { id, method } = request;
    const controller = new AbortController();
    if (DIALOGS.has(method)) this.#open.set(id, controller);
    let answer: UiAnswer;
    try {
      answer = await handle(request, { signal: controller.signal });
    } catch {
      answer = undefined;
    }
    if (this.#open.delete(id)) this.#send({ type: 'extension_ui_response', id, ...answerFields(answer) });
  }

  #callOff(id: string, reason?: Error): void {
    const controller = this.#open.get(id);
    this.#open.delete(id);
    controller?.abort(reason);
  }
}

function answerFields(answer: UiAnswer): Pick<ExtensionUiResponse, 'value' | 'confirmed' | 'cancelled'> {
  if (typeof answer === 'string') return { value: answer };
  return typeof answer === 'boolean' ? { confirmed: answer } : { cancelled: true };
}
