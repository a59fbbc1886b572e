import { dialogMethods, isDialogMethod } from '../../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import type { Listener } from '../sessions.ts';

/** How long a dialog waits for somebody who can show it. */
export const ABSENCE_MS = 10 * 60 * 1000;

/** What clients may be able to show. */
export const UI_METHODS = [
  ...dialogMethods,
  'notify',
  'setStatus',
  'setWidget',
  'setTitle',
  'set_editor_text',
] as const;

/** Whether agents in this environment give everybody titles to show. */
export const emitsTitles = (env: Readonly<Record<string, string | undefined>>): boolean =>
  /^\s*(?:1|true|yes|on)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');

/** Whether a client wants to be told of something to show. A title only if it says so, or everybody does. */
function canSee({ ui, titles }: Listener, method: string): boolean {
  if (method === 'setTitle') return titles || ui?.includes(method) === true;
  return ui?.includes(method) ?? true;
}

const canAnswer = (listener: Listener, method: string) => listener.canAnswer && canSee(listener, method);

/** Whether a client is told of something to show: of a question only if it may answer. */
export const canShow = (listener: Listener, method: string): boolean =>
  isDialogMethod(method) ? canAnswer(listener, method) : canSee(listener, method);

/** What the agent is told of its clients: that they show everything, unless all who are there show nothing. */
export function uiOf(listeners: Iterable<Listener>): readonly string[] {
  const users = [...listeners].filter((listener) => listener.canAnswer);
  return users.length > 0 && users.every(({ ui }) => ui?.length === 0) ? [] : UI_METHODS;
}

/** Ends dialogs that nobody could show for too long. */
export class DialogDesk {
  readonly #callOff: (id: string) => void;
  readonly #absences = new Map<string, NodeJS.Timeout>();

  constructor(callOff: (id: string) => void) {
    this.#callOff = callOff;
  }

  /** Dialogs or clients have come or gone. */
  look(dialogs: ReadonlyMap<string, ExtensionUiRequestEvent>, listeners: ReadonlySet<Listener>): void {
    for (const [id, timer] of this.#absences) if (!dialogs.has(id)) this.#forget(id, timer);
    for (const [id, { method }] of dialogs) {
      const timer = this.#absences.get(id);
      if ([...listeners].some((listener) => canAnswer(listener, method))) this.#forget(id, timer);
      else if (!timer) this.#absences.set(id, setTimeout(() => this.#callOff(id), ABSENCE_MS).unref());
    }
  }

  close(): void {
    for (const [id, timer] of this.#absences) this.#forget(id, timer);
  }

  #forget(id: string, timer: NodeJS.Timeout | undefined): void {
    clearTimeout(timer);
    this.#absences.delete(id);
  }
}
