import { withRemainingTimeout, type DialogMethod } from '../protocol/dialog-methods.ts';
import type { ExtensionUiRequestEvent, ExtensionUiResponse } from '../protocol/generated/vocabulary.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { clampTimeout } from '../system/with-timeout.ts';

/** How long a dialog waits for somebody who can show it. */
const ABSENCE_MS = 10 * 60 * 1000;

/** How many may wait at the same time; what is asked beyond that has no answer. */
export const MAX_DIALOGS = 100;

type Of<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;
type Words<R extends ExtensionUiRequestEvent> = R extends unknown ? Omit<R, 'type' | 'id'> : never;

/** A question to the user. */
export type Dialog = Words<Of<DialogMethod>>;

/** Something for the user to see. */
export type Notice = Words<Of<'notify' | 'setStatus' | 'setWidget' | 'setTitle' | 'set_editor_text'>>;

/** The clients, as far as they can show things to a user. */
export interface Stage {
  /** Whether anybody who is there can show this. */
  readonly canShow: (method: string) => boolean;
  /** Whether nobody will ever answer: whoever is there shows nothing, or can no longer be heard. */
  readonly isMute: () => boolean;
  /** Whether nobody else will come. */
  readonly isFinal: () => boolean;
  /** To everybody, or to one who has just come. */
  readonly show: (request: ExtensionUiRequestEvent, to?: unknown) => void;
  /** A dialog is over: tells all but the one who answered it. */
  readonly close: (request: ExtensionUiRequestEvent, by: string, answerer?: unknown) => void;
}

interface Open {
  readonly request: Of<Dialog['method']>;
  readonly askedAt: number;
  readonly end: (by: string, answer?: ExtensionUiResponse, answerer?: unknown) => void;
  /** Runs while nobody is there who can show it. */
  absence: NodeJS.Timeout | undefined;
}

const asNow = ({ request, askedAt }: Open) => withRemainingTimeout(request, performance.now() - askedAt);

/** How many statuses and widgets are shown again to a client that comes later. */
const MAX_LASTING = 100;

function lasting(request: ExtensionUiRequestEvent): { key?: string; isGone?: boolean } {
  const { method } = request;
  if (method === 'setStatus') return { key: `status ${request.statusKey}`, isGone: request.statusText === undefined };
  if (method === 'setWidget') return { key: `widget ${request.widgetKey}`, isGone: request.widgetLines === undefined };
  return method === 'setTitle' ? { key: 'title' } : {};
}

/** A request of the same kind that shows nothing. */
const blank = <R extends ExtensionUiRequestEvent>({ type, method }: R) => ({ type, id: newUuid(), method }) as R;

/** Questions that wait for an answer. Every one of them ends. */
export class Dialogs {
  readonly #stage: Stage;
  readonly #open = new Map<string, Open>();
  readonly #lasting = new Map<string, ExtensionUiRequestEvent>();

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** What the user said; undefined when nobody did: called off, out of time, aborted. */
  ask(dialog: Dialog, { timeout, signal }: { timeout?: number | undefined; signal?: AbortSignal | undefined } = {}) {
    const isHopeless = this.#stage.isMute() || (this.#stage.isFinal() && !this.#stage.canShow(dialog.method));
    if (signal?.aborted || isHopeless || this.#open.size >= MAX_DIALOGS) return Promise.resolve(undefined);
    const timed = timeout === undefined ? {} : { timeout };
    const request = { type: 'extension_ui_request', id: newUuid(), ...dialog, ...timed } as Open['request'];
    return new Promise<ExtensionUiResponse | undefined>((resolve) => {
      const stop = () => open.end('abort');
      const timer = timeout === undefined ? undefined : setTimeout(() => open.end('timeout'), clampTimeout(timeout));
      const open: Open = {
        request,
        askedAt: performance.now(),
        absence: undefined,
        end: (by, answer, answerer) => {
          if (!this.#open.delete(request.id)) return;
          clearTimeout(timer);
          clearTimeout(open.absence);
          signal?.removeEventListener('abort', stop);
          this.#stage.close(request, by, answerer);
          resolve(answer?.cancelled ? undefined : answer);
        },
      };
      signal?.addEventListener('abort', stop, { once: true });
      this.#open.set(request.id, open);
      this.#stage.show(request);
      this.#watch(open);
    });
  }

  tell(notice: Notice): void {
    const request = { type: 'extension_ui_request', id: newUuid(), ...notice } as ExtensionUiRequestEvent;
    this.#remember(request);
    this.#stage.show(request);
  }

  /** What stays on the screen until it is taken away. */
  #remember(request: ExtensionUiRequestEvent): void {
    const { key, isGone } = lasting(request);
    if (key === undefined) return;
    this.#lasting.delete(key);
    if (!isGone && this.#lasting.size < MAX_LASTING) this.#lasting.set(key, request);
  }

  /** The first answer counts; one to a dialog that is over, or never was, means nothing. */
  answer(response: ExtensionUiResponse, from: unknown): void {
    this.#open.get(response.id)?.end('client', response, from);
  }

  /** An answer that makes no sense is none, but it was the answer. */
  takeBroken(id: string, from: unknown): void {
    this.#open.get(id)?.end('client', undefined, from);
  }

  /** Takes away what was to stay on the screen: whoever put it there is gone. */
  forget(): void {
    for (const request of this.#lasting.values()) {
      if (request.method === 'setStatus') this.#stage.show({ ...blank(request), statusKey: request.statusKey });
      if (request.method === 'setWidget') this.#stage.show({ ...blank(request), widgetKey: request.widgetKey });
    }
    this.#lasting.clear();
  }

  /** Those that wait. */
  get pending(): readonly ExtensionUiRequestEvent[] {
    return [...this.#open.values()].map(asNow);
  }

  /** Shows a client what waits. */
  showTo(client: unknown): void {
    for (const request of this.#lasting.values()) this.#stage.show(request, client);
    for (const open of this.#open.values()) this.#stage.show(asNow(open), client);
  }

  /** Somebody came, left, or said what can be shown. */
  stageChanged(): void {
    if (this.#stage.isMute()) this.dismissAll('nobody');
    for (const open of this.#open.values()) this.#watch(open);
  }

  /** Ends all that wait without an answer. */
  dismissAll(by: string): void {
    for (const open of [...this.#open.values()]) open.end(by);
  }

  #watch(open: Open): void {
    if (this.#stage.canShow(open.request.method)) {
      clearTimeout(open.absence);
      open.absence = undefined;
    } else open.absence ??= setTimeout(() => open.end('timeout'), ABSENCE_MS);
  }
}
