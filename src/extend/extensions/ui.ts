import type { Dialog, Dialogs } from '../dialogs.ts';
import type { Deadline } from './deadline.ts';
import { plainTheme } from './theme.ts';

export interface DialogOptions {
  /** Milliseconds after which the default counts. */
  timeout?: number;
  signal?: AbortSignal;
}

/** What an extension can show and ask: pi's names, over whatever client there is. */
export type ExtensionUi = ReturnType<typeof uiFor>;

export interface UiParts {
  readonly dialogs: Dialogs;
  /** Aborts with the run. */
  readonly signal: () => AbortSignal | undefined;
  /** Stands still while a person thinks. */
  readonly deadline?: Deadline | undefined;
  /** Somebody is about to be asked. */
  readonly onAsk?: (() => void) | undefined;
}

export function uiFor({ dialogs, signal, deadline, onAsk }: UiParts) {
  const ask = (dialog: Dialog, { timeout, signal: own }: DialogOptions = {}) => {
    onAsk?.();
    const signals = [own, signal()].filter((one) => one !== undefined);
    const limit = typeof timeout === 'number' && timeout >= 0 ? { timeout: Math.round(timeout) } : {};
    const answer = dialogs.ask(dialog, { ...limit, signal: AbortSignal.any(signals) });
    return deadline ? deadline.during(answer) : answer;
  };
  const setEditorText = (text: string) => dialogs.tell({ method: 'set_editor_text', text: String(text) });
  return {
    select: async (title: string, options: string[], opts?: DialogOptions) =>
      (await ask({ method: 'select', title: String(title), options: options.map(String) }, opts))?.value,
    confirm: async (title: string, message: string, opts?: DialogOptions) =>
      (await ask({ method: 'confirm', title: String(title), message: String(message ?? '') }, opts))?.confirmed ===
      true,
    input: async (title: string, placeholder?: string, opts?: DialogOptions) =>
      (
        await ask(
          {
            method: 'input',
            title: String(title),
            ...(placeholder === undefined ? {} : { placeholder: String(placeholder) }),
          },
          opts,
        )
      )?.value,
    editor: async (title: string, prefill?: string) =>
      (
        await ask({
          method: 'editor',
          title: String(title),
          ...(prefill === undefined ? {} : { prefill: String(prefill) }),
        })
      )?.value,
    notify: (message: string, type?: 'info' | 'warning' | 'error') =>
      dialogs.tell({ method: 'notify', message: String(message), ...(isKind(type) ? { notifyType: type } : {}) }),
    setStatus: (key: string, text: string | undefined) =>
      dialogs.tell({
        method: 'setStatus',
        statusKey: String(key),
        ...(text === undefined || text === null ? {} : { statusText: String(text) }),
      }),
    setWidget: (key: string, content: unknown, options?: { placement?: 'aboveEditor' | 'belowEditor' }) => {
      // What draws itself on a terminal cannot be sent.
      if (content !== undefined && content !== null && !Array.isArray(content)) return;
      dialogs.tell({
        method: 'setWidget',
        widgetKey: String(key),
        ...(content ? { widgetLines: content.map(String) } : {}),
        ...(isPlace(options?.placement) ? { widgetPlacement: options.placement } : {}),
      });
    },
    setTitle: (title: string) => dialogs.tell({ method: 'setTitle', title: String(title) }),
    setEditorText,
    pasteToEditor: setEditorText,
    ...onlyInTerminals,
  };
}

const isKind = (type: unknown) => type === 'info' || type === 'warning' || type === 'error';

const isPlace = (placement: unknown) => placement === 'aboveEditor' || placement === 'belowEditor';

const nothing = () => undefined;

/** What takes a terminal, with the answers that pi gives where there is none. */
const onlyInTerminals = {
  custom: async () => undefined,
  onTerminalInput: () => nothing,
  setWorkingMessage: nothing,
  setWorkingVisible: nothing,
  setWorkingIndicator: nothing,
  setHiddenThinkingLabel: nothing,
  setFooter: nothing,
  setHeader: nothing,
  setEditorComponent: nothing,
  getEditorComponent: nothing,
  addAutocompleteProvider: nothing,
  getEditorText: () => '',
  getToolsExpanded: () => false,
  setToolsExpanded: nothing,
  theme: plainTheme,
  getAllThemes: () => [],
  getTheme: nothing,
  setTheme: () => ({ success: false, error: 'Theme switching not supported in RPC mode' }),
};
