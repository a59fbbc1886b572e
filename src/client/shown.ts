import type { DialogMethod } from '../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent } from '../protocol/generated/vocabulary.ts';
import { replaced } from './replaced.ts';

/** Notices that are kept, the last ones. */
export const MAX_NOTICES = 50;

type Of<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;

/** A question that waits for an answer. */
export type OpenDialog = Of<DialogMethod>;

export interface Status {
  readonly key: string;
  readonly text: string;
}

export interface Widget {
  readonly key: string;
  readonly lines: readonly string[];
  readonly placement: 'aboveEditor' | 'belowEditor';
}

export interface Notice {
  readonly kind: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** What extensions, and the server, want to have on the screen. */
export interface Shown {
  /**
   * Questions that wait, the oldest first. One goes when `extension_ui_resolved` tells of it; whoever answers is not told
   * and lets the reducer know by an event of that kind.
   */
  readonly dialogs: readonly OpenDialog[];
  /** By their keys: whoever comes later has them in the same order. */
  readonly statuses: readonly Status[];
  readonly widgets: readonly Widget[];
  /** The last ones, the newest at the end. */
  readonly notices: readonly Notice[];
  readonly title: string | undefined;
}

export const nothingShown: Shown = { dialogs: [], statuses: [], widgets: [], notices: [], title: undefined };

/** What is on the screen after one more event. What has nothing to do with it leaves it as it is. */
export function show<S extends Shown>(shown: S, event: AgentEvent): S {
  switch (event.type) {
    case 'extension_ui_request':
      return request(shown, event);
    case 'extension_ui_resolved':
      return { ...shown, dialogs: shown.dialogs.filter(({ id }) => id !== event.id) };
    case 'extension_error':
      return notice(shown, { kind: 'error', text: `${event.extensionPath}: ${event.error}` });
    case 'server_error':
      return notice(shown, { kind: 'error', text: event.error });
    default:
      return shown;
  }
}

function request<S extends Shown>(shown: S, event: ExtensionUiRequestEvent): S {
  switch (event.method) {
    case 'select':
    case 'confirm':
    case 'input':
    case 'editor':
      return { ...shown, dialogs: replaced(shown.dialogs, withoutNumber(event), ({ id }) => id === event.id) };
    case 'notify':
      return notice(shown, { kind: event.notifyType ?? 'info', text: event.message });
    case 'setStatus':
      return { ...shown, statuses: keyed(shown.statuses, event.statusKey, statusOf(event)) };
    case 'setWidget':
      return { ...shown, widgets: keyed(shown.widgets, event.widgetKey, widgetOf(event)) };
    case 'setTitle':
      return { ...shown, title: event.title };
    default:
      return shown;
  }
}

/** The same question has a number when it is asked, and none when it is asked again. */
const withoutNumber = <T extends OpenDialog>({ seq: _seq, ...dialog }: T) => dialog as T;

const keyed = <T extends { readonly key: string }>(items: readonly T[], key: string, item: T | undefined): T[] =>
  replaced(items, item, (other) => other.key === key).sort((one, other) => (one.key < other.key ? -1 : 1));

const statusOf = ({ statusKey, statusText }: Of<'setStatus'>): Status | undefined =>
  statusText == null ? undefined : { key: statusKey, text: statusText };

const widgetOf = ({ widgetKey, widgetLines, widgetPlacement = 'aboveEditor' }: Of<'setWidget'>): Widget | undefined =>
  widgetLines == null ? undefined : { key: widgetKey, lines: widgetLines, placement: widgetPlacement };

/** What is on the screen with one more notice. */
export const notice = <S extends Shown>(shown: S, news: Notice): S => ({
  ...shown,
  notices: [...shown.notices, news].slice(-MAX_NOTICES),
});
