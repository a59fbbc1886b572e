import type { DialogMethod } from '../../protocol/dialog-methods.ts';
import type { AgentEvent, ExtensionUiRequestEvent } from '../../protocol/generated/vocabulary.ts';
import { upsert } from './upsert.ts';

/** Only the newest notices are kept. */
export const MAX_NOTICES = 50;

type RequestOf<M extends string> = Extract<ExtensionUiRequestEvent, { method: M }>;

/** A dialog of an extension that has no answer yet. */
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

export interface ScreenNotice {
  readonly kind: 'info' | 'warning' | 'error';
  readonly text: string;
  /** An http address that the user shall open. */
  readonly url?: string;
}

/** The part of the view that extensions and the server set: dialogs, statuses, widgets, notices and the title. */
export interface UiState {
  /** Oldest first. The client that answers a dialog gets no `extension_ui_resolved` and has to reduce one itself. */
  readonly dialogs: readonly OpenDialog[];
  /** Sorted by key, so that every client has the same order. */
  readonly statuses: readonly UiStatus[];
  readonly widgets: readonly UiWidget[];
  /** The newest is the last. */
  readonly notices: readonly ScreenNotice[];
  readonly title: string | undefined;
}

export const emptyUi: UiState = { dialogs: [], statuses: [], widgets: [], notices: [], title: undefined };

/** Applies one event; events without effect on the UI return the same object. */
export function reduceUi<S extends UiState>(ui: S, event: AgentEvent): S {
  switch (event.type) {
    case 'extension_ui_request':
      return applyRequest(ui, event);
    case 'extension_ui_resolved':
      return { ...ui, dialogs: ui.dialogs.filter(({ id }) => id !== event.id) };
    case 'extension_error':
      return addNotice(ui, { kind: 'error', text: `${event.extensionPath}: ${event.error}` });
    case 'warning':
      return addNotice(ui, { kind: 'warning', text: event.message });
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
    case 'open_url':
      return addNotice(ui, addressNotice(event));
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

/** An address of another kind is shown as text: it could run code. */
const addressNotice = ({ url, instructions = 'Open this address' }: RequestOf<'open_url'>): ScreenNotice =>
  /^https?:\/\//i.test(url)
    ? { kind: 'info', text: instructions, url }
    : { kind: 'info', text: `${instructions}: ${url}` };

/** A dialog has a `seq` when it is published, and none in a snapshot. */
const withoutSeq = <T extends OpenDialog>({ seq: _seq, ...dialog }: T) => dialog as T;

const upsertKeyed = <T extends { readonly key: string }>(items: readonly T[], key: string, item: T | undefined): T[] =>
  upsert(items, item, (other) => other.key === key).sort((one, other) => (one.key < other.key ? -1 : 1));

const statusOf = ({ statusKey, statusText }: RequestOf<'setStatus'>): UiStatus | undefined =>
  statusText == null ? undefined : { key: statusKey, text: statusText };

const widgetOf = ({
  widgetKey,
  widgetLines,
  widgetPlacement = 'aboveEditor',
}: RequestOf<'setWidget'>): UiWidget | undefined =>
  widgetLines == null ? undefined : { key: widgetKey, lines: widgetLines, placement: widgetPlacement };

export const addNotice = <S extends UiState>(ui: S, added: ScreenNotice): S => ({
  ...ui,
  notices: [...ui.notices, added].slice(-MAX_NOTICES),
});
