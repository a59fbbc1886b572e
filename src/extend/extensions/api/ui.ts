import type { Dialog, Dialogs } from '../../dialogs.ts';
import type { Deadline } from '../hooks/deadline.ts';
import type {
  AutocompleteProviderFactory,
  ComponentFactory,
  TerminalInputHandler,
  TerminalObject,
  WorkingIndicatorOptions,
} from '../terminal-api.ts';

const plainText = (text: unknown) => String(text ?? '');

// A terminal theme without colours.
const plainTheme = {
  name: 'plain',
  fg: (_color: string, text: unknown) => plainText(text),
  bg: (_color: string, text: unknown) => plainText(text),
  bold: plainText,
  dim: plainText,
  italic: plainText,
  underline: plainText,
  inverse: plainText,
  strikethrough: plainText,
  getFgAnsi: () => '',
  getBgAnsi: () => '',
  getColorMode: () => 'truecolor',
  getThinkingBorderColor: () => plainText,
  getBashModeBorderColor: () => plainText,
};

export interface DialogOptions {
  /** In milliseconds; afterwards the default value is returned. */
  timeout?: number;
  signal?: AbortSignal;
}

/** The `ctx.ui` object in pi's shape, shown by the connected clients. */
export type ExtensionUi = ReturnType<typeof createUi>;

export interface UiDependencies {
  readonly dialogs: Dialogs;
  readonly signal: () => AbortSignal | undefined;
  /** Pauses while a dialog is open. */
  readonly deadline?: Deadline | undefined;
  /** Called before a command opens a dialog. */
  readonly onDialog?: (() => void) | undefined;
  /** Called when a dialog opens; the returned function is called when it ends. */
  readonly onPrompt: (kind: Dialog['method'], title: string) => () => void;
  /** Reports a call that only a terminal can show. */
  readonly onTerminalCall: (call: string) => void;
}

export function createUi({ dialogs, signal, deadline, onDialog, onPrompt, onTerminalCall }: UiDependencies) {
  const open = async (dialog: Dialog, options?: DialogOptions) => {
    const onEnd = onPrompt(dialog.method, dialog.title);
    try {
      return await show(dialog, options);
    } finally {
      onEnd();
    }
  };
  const show = (dialog: Dialog, { timeout, signal: ownSignal }: DialogOptions = {}) => {
    onDialog?.();
    const signals = [ownSignal, signal()].filter((one) => one !== undefined);
    const limit = typeof timeout === 'number' && timeout >= 0 ? { timeout: Math.round(timeout) } : {};
    const opener = onDialog ? ('command' as const) : undefined;
    const response = dialogs.open(dialog, { ...limit, opener, signal: AbortSignal.any(signals) });
    return deadline ? deadline.pauseDuring(response) : response;
  };
  const setEditorText = (text: string) => dialogs.notify({ method: 'set_editor_text', text: String(text) });
  return {
    select: async (title: string, options: string[], opts?: DialogOptions) =>
      (await open({ method: 'select', title: String(title), options: options.map(String) }, opts))?.value,
    confirm: async (title: string, message: string, opts?: DialogOptions) =>
      (await open({ method: 'confirm', title: String(title), message: String(message ?? '') }, opts))?.confirmed ===
      true,
    input: async (title: string, placeholder?: string, opts?: DialogOptions) =>
      (
        await open(
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
        await open({
          method: 'editor',
          title: String(title),
          ...(prefill === undefined ? {} : { prefill: String(prefill) }),
        })
      )?.value,
    notify: (message: string, type?: 'info' | 'warning' | 'error') =>
      dialogs.notify({ method: 'notify', message: String(message), ...(isLevel(type) ? { notifyType: type } : {}) }),
    setStatus: (key: string, text: string | undefined) =>
      dialogs.notify({
        method: 'setStatus',
        statusKey: String(key),
        ...(text === undefined || text === null ? {} : { statusText: String(text) }),
      }),
    setWidget: (
      key: string,
      content: string[] | ComponentFactory | undefined,
      options?: { placement?: 'aboveEditor' | 'belowEditor' },
    ) => {
      // A component that renders itself on a terminal cannot be sent.
      if (content !== undefined && content !== null && !Array.isArray(content)) return;
      dialogs.notify({
        method: 'setWidget',
        widgetKey: String(key),
        ...(content ? { widgetLines: content.map(String) } : {}),
        ...(isPlacement(options?.placement) ? { widgetPlacement: options.placement } : {}),
      });
    },
    setTitle: (title: string) => dialogs.notify({ method: 'setTitle', title: String(title) }),
    setEditorText,
    pasteToEditor: setEditorText,
    // Resolves to undefined, as in pi without a terminal.
    custom: async <T>(_factory: CustomFactory<T>, _options?: object): Promise<T> => {
      onTerminalCall('ui.custom()');
      return undefined as T;
    },
    ...terminalOnly,
  };
}

const isLevel = (type: unknown) => type === 'info' || type === 'warning' || type === 'error';

const isPlacement = (placement: unknown) => placement === 'aboveEditor' || placement === 'belowEditor';

/** The theme of `ctx.ui`: it has no colours. */
export type UiTheme = typeof plainTheme;

type CustomFactory<T> = (
  tui: TerminalObject,
  theme: UiTheme,
  keybindings: TerminalObject,
  done: (result: T) => void,
) => TerminalObject;

const noop = () => undefined;

interface TerminalOnly {
  onTerminalInput(handler: TerminalInputHandler): () => void;
  setWorkingMessage(message?: string): void;
  setWorkingVisible(visible: boolean): void;
  setWorkingIndicator(options?: WorkingIndicatorOptions): void;
  setHiddenThinkingLabel(label?: string): void;
  setFooter(
    factory: ((tui: TerminalObject, theme: UiTheme, footerData: TerminalObject) => TerminalObject) | undefined,
  ): void;
  setHeader(factory: ComponentFactory | undefined): void;
  setEditorComponent(
    factory: ((tui: TerminalObject, theme: TerminalObject, keybindings: TerminalObject) => TerminalObject) | undefined,
  ): void;
  getEditorComponent(): TerminalObject;
  addAutocompleteProvider(factory: AutocompleteProviderFactory): void;
  getEditorText(): string;
  getToolsExpanded(): boolean;
  setToolsExpanded(expanded: boolean): void;
  readonly theme: UiTheme;
  getAllThemes(): { name: string; path: string | undefined }[];
  getTheme(name: string): UiTheme | undefined;
  setTheme(theme: string | UiTheme): { success: boolean; error?: string };
}

// Terminal functions, with the values that pi returns without a terminal.
const terminalOnly: TerminalOnly = {
  onTerminalInput: () => noop,
  setWorkingMessage: noop,
  setWorkingVisible: noop,
  setWorkingIndicator: noop,
  setHiddenThinkingLabel: noop,
  setFooter: noop,
  setHeader: noop,
  setEditorComponent: noop,
  getEditorComponent: noop,
  addAutocompleteProvider: noop,
  getEditorText: () => '',
  getToolsExpanded: () => false,
  setToolsExpanded: noop,
  theme: plainTheme,
  getAllThemes: () => [],
  getTheme: noop,
  setTheme: () => ({ success: false, error: 'Theme switching not supported in RPC mode' }),
};
