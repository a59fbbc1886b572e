import { isDialogMethod } from '../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { LastIds } from './last-ids.ts';

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
  readonly #open = new Map<string, AbortController>();
  /** They may be asked again before their answers are there. */
  readonly #answered = new LastIds();
  /** Those that were open before the snapshot and have not been told again since. */
  #doubtful: ReadonlySet<string> = new Set();

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
    if (event.type === 'extension_ui_request') this.#ask(event);
    if (event.type === 'extension_ui_resolved') this.#callOff(event.id);
  }

  /** A snapshot follows, with the dialogs that still wait. */
  doubt(): void {
    this.#doubtful = new Set(this.#open.keys());
  }

  /** The snapshot is whole: what it does not have is over. */
  caughtUp(): void {
    for (const id of this.#doubtful) this.#callOff(id);
    this.#doubtful = new Set();
  }

  /** The agent is gone. */
  leave(reason: Error): void {
    for (const id of [...this.#open.keys()]) this.#callOff(id, reason);
  }

  #ask(request: ExtensionUiRequestEvent): void {
    const handle = this.#handlers.at(-1)?.handle;
    this.#doubtful = new Set([...this.#doubtful].filter((id) => id !== request.id));
    // A dialog that waits is shown again to a client that comes back.
    const isKnown = this.#open.has(request.id) || this.#answered.has(request.id);
    if (handle && !isKnown) void this.#show(request, handle);
  }

  async #show(request: ExtensionUiRequestEvent, handle: UiHandler): Promise<void> {
    const { id, method } = request;
    const controller = new AbortController();
    if (isDialogMethod(method)) this.#open.set(id, controller);
    let answer: UiAnswer;
    try {
      answer = await handle(request, { signal: controller.signal });
    } catch {
      answer = undefined;
    }
    if (!this.#open.delete(id)) return;
    this.#answered.add(id);
    this.#send({ type: 'extension_ui_response', id, ...answerFields(answer) });
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
