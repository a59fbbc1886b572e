import {
  absenceOf,
  clearingRequest,
  type DialogMethod,
  mayAnswer,
  stickySlot,
  withRemainingTimeout,
} from '../protocol/dialog-methods.ts';
import type { BlockedOn, ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { clampTimeout } from '../system/with-timeout.ts';

/** Limit of open dialogs; further ones resolve to undefined at once. */
export const MAX_DIALOGS = 100;

type RequestOf<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;
type RequestFields<R extends ExtensionUiRequestEvent> = R extends unknown ? Omit<R, 'type' | 'id'> : never;

/** A dialog request without its envelope. */
export type Dialog = RequestFields<RequestOf<DialogMethod>>;

/** A one-way UI request: a notification, status, widget, title, editor text or address to open. */
export type UiNotice = RequestFields<
  RequestOf<'notify' | 'setStatus' | 'setWidget' | 'setTitle' | 'set_editor_text' | 'open_url'>
>;

/** The connected clients, as far as they show dialogs and notices. */
export interface DialogClients {
  readonly canShow: (method: string) => boolean;
  /** True if no client will ever respond: all of them show nothing or have closed their input. */
  readonly cannotAnswer: () => boolean;
  /** True if no other client can connect. */
  readonly isFinal: () => boolean;
  /** Sends to all clients, or to one that has just connected. */
  readonly show: (request: ExtensionUiRequestEvent, to?: unknown) => void;
  /** Reports a dialog that took its default at once, because no client could answer it. */
  readonly reportUnshown: (id: string) => void;
  /** The deadline of dialogs without a timeout of their own. */
  readonly deadlineMs: () => number | undefined;
  /** Reports the end of a dialog to all clients but the respondent. */
  readonly close: (request: ExtensionUiRequestEvent, by: string, respondent?: unknown) => void;
}

interface DialogOptions {
  readonly timeout?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** `command`: no run waits for the answer. */
  readonly opener?: 'command' | undefined;
  /** Ends the dialog without an answer, because it is not needed any more. */
  readonly settled?: AbortSignal | undefined;
  /** Called with what ended the dialog: `client`, `timeout`, `abort` or `agent`. */
  readonly onEnd?: (by: string) => void;
}

interface OpenDialog {
  readonly opener: DialogOptions['opener'];
  readonly request: RequestOf<Dialog['method']>;
  readonly openedAt: number;
  readonly end: (by: string, response?: ExtensionUiResponse, respondent?: unknown) => void;
  // Runs while no client can show the dialog.
  noClientTimer: NodeJS.Timeout | undefined;
}

const withTimeLeft = ({ request, openedAt }: OpenDialog) => withRemainingTimeout(request, performance.now() - openedAt);

// Limit of statuses and widgets that a later client receives.
const MAX_PERSISTENT_NOTICES = 100;

/** The open dialogs of an agent, and the notices that later clients still need. */
export class Dialogs {
  readonly #clients: DialogClients;
  readonly #openDialogs = new Map<string, OpenDialog>();
  readonly #persistent = new Map<string, ExtensionUiRequestEvent>();

  constructor(clients: DialogClients) {
    this.#clients = clients;
  }

  /** The user's response; undefined if the dialog is cancelled, times out or is aborted. */
  open(dialog: Dialog, { timeout = this.#clients.deadlineMs(), signal, opener, settled, onEnd }: DialogOptions = {}) {
    const id = newUuid();
    if (signal?.aborted || settled?.aborted) return Promise.resolve(undefined);
    if (!this.isAnswerable(dialog.method)) {
      this.#clients.reportUnshown(id);
      return Promise.resolve(undefined);
    }
    const timed = timeout === undefined ? {} : { timeout };
    const request = { type: 'extension_ui_request', id, ...dialog, ...timed } as OpenDialog['request'];
    return new Promise<ExtensionUiResponse | undefined>((resolve) => {
      const abort = () => open.end('abort');
      const settle = () => open.end('agent');
      const timer = timeout === undefined ? undefined : setTimeout(() => open.end('timeout'), clampTimeout(timeout));
      const open: OpenDialog = {
        request,
        opener,
        openedAt: performance.now(),
        noClientTimer: undefined,
        end: (by, response, respondent) => {
          if (!this.#openDialogs.delete(request.id)) return;
          clearTimeout(timer);
          clearTimeout(open.noClientTimer);
          signal?.removeEventListener('abort', abort);
          settled?.removeEventListener('abort', settle);
          this.#clients.close(request, by, respondent);
          onEnd?.(by);
          resolve(response?.cancelled ? undefined : response);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      settled?.addEventListener('abort', settle, { once: true });
      this.#openDialogs.set(request.id, open);
      this.#clients.show(request);
      this.#updateTimer(open);
    });
  }

  /** Whether a client can show such a dialog now. */
  canShow(method: DialogMethod): boolean {
    return !this.#clients.cannotAnswer() && this.#clients.canShow(method);
  }

  notify(notice: UiNotice): void {
    const request = { type: 'extension_ui_request', id: newUuid(), ...notice } as ExtensionUiRequestEvent;
    this.#storePersistent(request);
    this.#clients.show(request);
  }

  /** Keeps the statuses, widgets and title that later clients must still show. */
  #storePersistent(request: ExtensionUiRequestEvent): void {
    const { key, clears } = stickySlot(request);
    if (key === undefined) return;
    this.#persistent.delete(key);
    if (!clears && this.#persistent.size < MAX_PERSISTENT_NOTICES) this.#persistent.set(key, request);
  }

  /** Only the first response to an open dialog counts; that of a client whose limit is too low denies. */
  respond(response: ExtensionUiResponse, from: unknown): void {
    const open = this.#openDialogs.get(response.id);
    open?.end(response.timedOut ? 'timeout' : 'client', mayAnswer(open.request, response) ? response : undefined, from);
  }

  /** A malformed response ends its dialog without a value. */
  endMalformed(id: string, from: unknown): void {
    this.#openDialogs.get(id)?.end('client', undefined, from);
  }

  /** Removes all statuses and widgets from the clients. */
  clearPersistent(): void {
    for (const request of this.#persistent.values()) {
      const clearing = clearingRequest(request, newUuid());
      if (clearing) this.#clients.show(clearing);
    }
    this.#persistent.clear();
  }

  get pending(): readonly ExtensionUiRequestEvent[] {
    return [...this.#openDialogs.values()].map(withTimeLeft);
  }

  /** The oldest open dialog that a run waits for, or, between runs, the oldest of all. */
  blockedOn(run: { readonly id: string } | undefined): BlockedOn | undefined {
    for (const { opener, openedAt, request } of this.#openDialogs.values()) {
      if (run && opener === 'command') continue;
      const call = 'approval' in request ? request.approval : undefined;
      const { toolCallId, toolName } = call ?? {};
      const ofCall = toolCallId === undefined ? {} : { toolCallId, toolName };
      return { kind: 'dialog', elapsedMs: Math.round(performance.now() - openedAt), ...ofCall };
    }
    return undefined;
  }

  /** Sends all open dialogs and lasting notices to a client. */
  showTo(client: unknown): void {
    for (const request of this.#persistent.values()) this.#clients.show(request, client);
    for (const open of this.#openDialogs.values()) this.#clients.show(withTimeLeft(open), client);
  }

  /** Call when a client connects, disconnects or changes its UI capabilities. */
  clientsChanged(): void {
    if (this.#clients.cannotAnswer()) this.dismissAll('nobody');
    for (const open of this.#openDialogs.values()) this.#updateTimer(open);
  }

  dismissAll(by: string): void {
    for (const open of [...this.#openDialogs.values()]) open.end(by);
  }

  /** Whether a client can answer such a dialog now, or may connect. */
  isAnswerable(method: DialogMethod): boolean {
    if (this.#openDialogs.size >= MAX_DIALOGS || this.#clients.cannotAnswer()) return false;
    return !this.#clients.isFinal() || this.#clients.canShow(method);
  }

  #updateTimer(open: OpenDialog): void {
    if (this.#clients.canShow(open.request.method)) {
      clearTimeout(open.noClientTimer);
      open.noClientTimer = undefined;
    } else open.noClientTimer ??= setTimeout(() => open.end('timeout'), clampTimeout(absenceOf(open.request)));
  }
}
