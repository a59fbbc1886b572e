import type { DialogMethod } from '../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent } from '../protocol/generated/vocabulary.ts';
import { upsert } from './upsert.ts';

/** Notices that are kept, the last ones. */
export const MAX_NOTICES = 50;

type RequestOf<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;

/** A question that waits for an answer. */
export type OpenDialog = RequestOf<DialogMethod>;

export interface UiStatus {
  readonly key: string;
  readonly text: string;
}

export interface UiWidget {
  readonly key: string;
  readonly lines: readonly string[];
  readonly placement: 'aboveEditor' | 'belowEditor';
}

export interface UiNotice {
  readonly kind: 'info' | 'warning' | 'error';
  readonly text: string;
}

/** What extensions, and the server, want to have on the screen. */
export interface UiState {
  /**
   * Questions that wait, the oldest first. One goes when `extension_ui_resolved` tells of it; whoever answers is not told
   * and lets the reducer know by an event of that kind.
   */
  readonly dialogs: readonly OpenDialog[];
  /** By their keys: whoever comes later has them in the same order. */
  readonly statuses: readonly UiStatus[];
  readonly widgets: readonly UiWidget[];
  /** The last ones, the newest at the end. */
  readonly notices: readonly UiNotice[];
  readonly title: string | undefined;
}

export const emptyUi: UiState = { dialogs: [], statuses: [], widgets: [], notices: [], title: undefined };

/** What is on the screen after one more event. What has nothing to do with it leaves it as it is. */
export function reduceUi<S extends UiState>(ui: S, event: AgentEvent): S {
  switch (event.type) {
    case 'extension_ui_request':
      return applyRequest(ui, event);
    case 'extension_ui_resolved':
      return { ...ui, dialogs: ui.dialogs.filter(({ id }) => id !== event.id) };
    case 'extension_error':
      return addNotice(ui, { kind: 'error', text: `${event.extensionPath}: ${event.error}` });
    case 'server_error':
      return addNotice(ui, { kind: 'error', text: event.error });
    default:
      return ui;
  }
}

function applyRequest<S extends UiState>(ui: S, event: ExtensionUiRequestEvent): S {
  switch (event.method) {
    case 'select':
    case 'confirm':
    case 'input':
    case 'editor':
      return { ...ui, dialogs: upsert(ui.dialogs, withoutSeq(event), ({ id }) => id === event.id) };
    case 'notify':
      return addNotice(ui, { kind: event.notifyType ?? 'info', text: event.message });
    case 'setStatus':
      return { ...ui, statuses: upsertKeyed(ui.statuses, event.statusKey, statusOf(event)) };
    case 'setWidget':
      return { ...ui, widgets: upsertKeyed(ui.widgets, event.widgetKey, widgetOf(event)) };
    case 'setTitle':
      return { ...ui, title: event.title };
    default:
      return ui;
  }
}

/** The same question has a number when it is asked, and none when it is asked again. */
const withoutSeq = <T extends OpenDialog>({ seq: _seq, ...dialog }: T) => dialog as T;

const upsertKeyed = <T extends { readonly key: string }>(items: readonly T[], key: string, item: T | undefined): T[] =>
  upsert(items, item, (other) => other.key === key).sort((one, other) => (one.key < other.key ? -1 : 1));

const statusOf = ({ statusKey, statusText }: RequestOf<'setStatus'>): UiStatus | undefined =>
  statusText == null ? undefined : { key: statusKey, text: statusText };

const widgetOf = ({ widgetKey, widgetLines, widgetPlacement = 'aboveEditor' }: RequestOf<'setWidget'>): UiWidget | undefined =>
  widgetLines == null ? undefined : { key: widgetKey, lines: widgetLines, placement: widgetPlacement };

/** What is on the screen with one more notice. */
export const addNotice = <S extends UiState>(ui: S, added: UiNotice): S => ({
  ...ui,
  notices: [...ui.notices, added].slice(-MAX_NOTICES),
});
