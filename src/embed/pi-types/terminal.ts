import type { TerminalObject } from '../../extend/extensions/terminal-api.ts';

export type {
  AutocompleteProviderFactory,
  EntryRenderer,
  EntryRenderOptions,
  KeybindingHints,
  MarkdownTransformContext,
  MarkdownTransformer,
  MessageRenderer,
  MessageRenderOptions,
  TerminalInputHandler,
  ToolRendererResolver,
  ToolRenderers,
  ToolRenderResultOptions,
  WorkingIndicatorOptions,
} from '../../extend/extensions/terminal-api.ts';

/** Pi's names of the parts of its terminal, which tau lacks. */
export type WidgetPlacement = 'aboveEditor' | 'belowEditor';

export interface ExtensionWidgetOptions {
  placement?: WidgetPlacement;
}

export type ThemeAppearance = 'dark' | 'light';
export type ThemeColor = string;
export type ThemeBg = string;
export type ThemeToken = ThemeColor | ThemeBg;
export type ThemeStyle = { fg?: ThemeColor; bg?: ThemeBg };
export type AppKeybinding = string;
export type KeybindingsManager = TerminalObject;
export type ReadonlyFooterDataProvider = TerminalObject;
export type CustomEditorOptions = TerminalObject;
export type RenderDiffOptions = TerminalObject;
export type SettingsCallbacks = TerminalObject;
export type SettingsConfig = TerminalObject;
export type ToolExecutionOptions = TerminalObject;
export type VisualTruncateResult = TerminalObject;
export type FullscreenExitOutput = TerminalObject;
export type QuietStartup = TerminalObject;
export type TuiMode = TerminalObject;
