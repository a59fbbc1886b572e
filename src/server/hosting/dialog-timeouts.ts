import { dialogMethods, isDialogMethod } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import type { Subscriber } from '../sessions.ts';

// How long a dialog waits for a client that can show it.
export const UNSHOWN_DIALOG_MS = 10 * 60 * 1000;

// All methods that a client can support.
export const UI_METHODS = [
  ...dialogMethods,
  'notify',
  'setStatus',
  'setWidget',
  'setTitle',
  'set_editor_text',
] as const;

// Whether agents in this environment send titles to all clients.
export const emitsTitles = (env: Readonly<Record<string, string | undefined>>): boolean =>
  /^\s*(?:1|true|yes|on)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');

// Whether a client supports a method. Titles are sent only to clients that list them, unless all get them.
function shows({ ui, receivesTitles }: Subscriber, method: string): boolean {
  if (method === 'setTitle') return receivesTitles || ui?.includes(method) === true;
  return ui?.includes(method) ?? true;
}

const mayAnswer = (subscriber: Subscriber, method: string) => subscriber.canAnswerDialogs && shows(subscriber, method);

// Whether a client gets a UI request; dialogs go only to clients that may answer.
export const receivesUiRequest = (subscriber: Subscriber, method: string): boolean =>
  isDialogMethod(method) ? mayAnswer(subscriber, method) : shows(subscriber, method);

// The combined preference for the agent: all methods, unless every client that may answer supports none.
export function agentUiMethods(attached: Iterable<Subscriber>): readonly string[] {
  const answering = [...attached].filter((subscriber) => subscriber.canAnswerDialogs);
  return answering.length > 0 && answering.every(({ ui }) => ui?.length === 0) ? [] : UI_METHODS;
}

/** Cancels dialogs that no client could show for too long. */
export class DialogTimeouts {
  readonly #onTimeout: (id: string) => void;
  readonly #timers = new Map<string, NodeJS.Timeout>();

  constructor(onTimeout: (id: string) => void) {
    this.#onTimeout = onTimeout;
  }

  /** Starts and stops timeouts after a change of dialogs or clients. */
  update(dialogs: ReadonlyMap<string, ExtensionUiRequestEvent>, attached: ReadonlySet<Subscriber>): void {
    for (const [id, timer] of this.#timers) if (!dialogs.has(id)) this.#clear(id, timer);
    for (const [id, { method }] of dialogs) {
      const timer = this.#timers.get(id);
      if ([...attached].some((subscriber) => mayAnswer(subscriber, method))) this.#clear(id, timer);
      else if (!timer) this.#timers.set(id, setTimeout(() => this.#onTimeout(id), UNSHOWN_DIALOG_MS).unref());
    }
  }

  close(): void {
    for (const [id, timer] of this.#timers) this.#clear(id, timer);
  }

  #clear(id: string, timer: NodeJS.Timeout | undefined): void {
    clearTimeout(timer);
    this.#timers.delete(id);
  }
}
