import { withRemainingTimeout, type DialogMethod } from '../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { clampTimeout } from '../system/with-timeout.ts';

/** How long a dialog waits for somebody who can show it. */
const UNSHOWABLE_DIALOG_MS = 10 * 60 * 1000;

/** How many may wait at the same time; what is asked beyond that has no answer. */
export const MAX_DIALOGS = 100;

type RequestOf<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;
type RequestFields<R extends ExtensionUiRequestEvent> = R extends unknown ? Omit<R, 'type' | 'id'> : never;

/** A question to the user. */
export type Dialog = RequestFields<RequestOf<DialogMethod>>;

/** Something for the user to see. */
export type UiNotice = RequestFields<RequestOf<'notify' | 'setStatus' | 'setWidget' | 'setTitle' | 'set_editor_text'>>;

/** The clients, as far as they can show things to a user. */
export interface DialogClients {
  /** Whether anybody who is there can show this. */
  readonly canShow: (method: string) => boolean;
  /** Whether nobody will ever answer: whoever is there shows nothing, or can no longer be heard. */
  readonly cannotAnswer: () => boolean;
  /** Whether nobody else will come. */
  readonly isFinal: () => boolean;
  /** To everybody, or to one who has just come. */
  readonly show: (request: ExtensionUiRequestEvent, to?: unknown) => void;
  /** A dialog is over: tells all but the one who answered it. */
  readonly close: (request: ExtensionUiRequestEvent, by: string, respondent?: unknown) => void;
}

interface OpenDialog {
  readonly request: RequestOf<Dialog['method']>;
  readonly openedAt: number;
  readonly end: (by: string, response?: ExtensionUiResponse, respondent?: unknown) => void;
  /** Runs while nobody is there who can show it. */
  noClientTimer: NodeJS.Timeout | undefined;
}

const withTimeLeft = ({ request, openedAt }: OpenDialog) => withRemainingTimeout(request, performance.now() - openedAt);

/** How many statuses and widgets are shown again to a client that comes later. */
const MAX_PERSISTENT_NOTICES = 100;

function persistence(request: ExtensionUiRequestEvent): { key?: string; clears?: boolean } {
  const { method } = request;
  if (method === 'setStatus') return { key: `status ${request.statusKey}`, clears: request.statusText === undefined };
  if (method === 'setWidget') return { key: `widget ${request.widgetKey}`, clears: request.widgetLines === undefined };
  return method === 'setTitle' ? { key: 'title' } : {};
}

/** A request of the same kind that shows nothing. */
const blank = <R extends ExtensionUiRequestEvent>({ type, method }: R) => ({ type, id: newUuid(), method }) as R;

/** Questions that wait for an answer. Every one of them ends. */
export class Dialogs {
  readonly #clients: DialogClients;
  readonly #openDialogs = new Map<string, OpenDialog>();
  readonly #persistent = new Map<string, ExtensionUiRequestEvent>();

  constructor(clients: DialogClients) {
    this.#clients = clients;
  }

  /** What the user said; undefined when nobody did: called off, out of time, aborted. */
  open(dialog: Dialog, { timeout, signal }: { timeout?: number | undefined; signal?: AbortSignal | undefined } = {}) {
    const hidden = this.#clients.cannotAnswer() || (this.#clients.isFinal() && !this.#clients.canShow(dialog.method));
    if (signal?.aborted || hidden || this.#openDialogs.size >= MAX_DIALOGS) return Promise.resolve(undefined);
    const timed = timeout === undefined ? {} : { timeout };
    const request = { type: 'extension_ui_request', id: newUuid(), ...dialog, ...timed } as OpenDialog['request'];
    return new Promise<ExtensionUiResponse | undefined>((resolve) => {
      const abort = () => open.end('abort');
      const timer = timeout === undefined ? undefined : setTimeout(() => open.end('timeout'), clampTimeout(timeout));
      const open: OpenDialog = {
        request,
        openedAt: performance.now(),
        noClientTimer: undefined,
        end: (by, response, respondent) => {
          if (!this.#openDialogs.delete(request.id)) return;
          clearTimeout(timer);
          clearTimeout(open.noClientTimer);
          signal?.removeEventListener('abort', abort);
          this.#clients.close(request, by, respondent);
          resolve(response?.cancelled ? undefined : response);
        },
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#openDialogs.set(request.id, open);
      this.#clients.show(request);
      this.#updateTimer(open);
    });
  }

  notify(notice: UiNotice): void {
    const request = { type: 'extension_ui_request', id: newUuid(), ...notice } as ExtensionUiRequestEvent;
    this.#storePersistent(request);
    this.#clients.show(request);
  }

  /** What stays on the screen until it is taken away. */
  #storePersistent(request: ExtensionUiRequestEvent): void {
    const { key, clears } = persistence(request);
    if (key === undefined) return;
    this.#persistent.delete(key);
    if (!clears && this.#persistent.size < MAX_PERSISTENT_NOTICES) this.#persistent.set(key, request);
  }

  /** The first answer counts; one to a dialog that is over, or never was, means nothing. */
  respond(response: ExtensionUiResponse, from: unknown): void {
    this.#openDialogs.get(response.id)?.end('client', response, from);
  }

  /** An answer that makes no sense is none, but it was the answer. */
  endMalformed(id: string, from: unknown): void {
    this.#openDialogs.get(id)?.end('client', undefined, from);
  }

  /** Takes away what was to stay on the screen: whoever put it there is gone. */
  clearPersistent(): void {
    for (const request of this.#persistent.values()) {
      if (request.method === 'setStatus') this.#clients.show({ ...blank(request), statusKey: request.statusKey });
      if (request.method === 'setWidget') this.#clients.show({ ...blank(request), widgetKey: request.widgetKey });
    }
    this.#persistent.clear();
  }

  /** Those that wait. */
  get pending(): readonly ExtensionUiRequestEvent[] {
    return [...this.#openDialogs.values()].map(withTimeLeft);
  }

  /** Shows a client what waits. */
  showTo(client: unknown): void {
    for (const request of this.#persistent.values()) this.#clients.show(request, client);
    for (const open of this.#openDialogs.values()) this.#clients.show(withTimeLeft(open), client);
  }

  /** Somebody came, left, or said what can be shown. */
  clientsChanged(): void {
    if (this.#clients.cannotAnswer()) this.dismissAll('nobody');
    for (const open of this.#openDialogs.values()) this.#updateTimer(open);
  }

  /** Ends all that wait without an answer. */
  dismissAll(by: string): void {
    for (const open of [...this.#openDialogs.values()]) open.end(by);
  }

  #updateTimer(open: OpenDialog): void {
    if (this.#clients.canShow(open.request.method)) {
      clearTimeout(open.noClientTimer);
      open.noClientTimer = undefined;
    } else open.noClientTimer ??= setTimeout(() => open.end('timeout'), UNSHOWABLE_DIALOG_MS);
  }
}
