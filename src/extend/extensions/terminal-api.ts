import type { CustomEntry, CustomMessage } from '../../protocol/generated/vocabulary.ts';
import type { UiTheme } from './api/ui.ts';

/** The keys of a terminal. This file holds the types of pi's terminal functions, which tau accepts and ignores. */
export interface KeybindingHints {
  keyText(keybinding: string): string;
  keyHint(keybinding: string, description: string): string;
}

/** An object of pi's terminal, which tau lacks: no function that gets one is called. */
// biome-ignore lint/suspicious/noExplicitAny: extensions call methods on these objects
export type TerminalObject = any;

/** Creates a component of pi's terminal. */
export type ComponentFactory = (tui: TerminalObject, theme: UiTheme) => TerminalObject;

export interface MessageRenderOptions extends KeybindingHints {
  expanded: boolean;
  outputPad: number;
}

export interface EntryRenderOptions extends KeybindingHints {
  expanded: boolean;
}

export type MessageRenderer<T = unknown> = (
  message: CustomMessage & { details?: T },
  options: MessageRenderOptions,
  theme: UiTheme,
) => TerminalObject;

export type EntryRenderer<T = unknown> = (
  entry: CustomEntry & { data?: T },
  options: EntryRenderOptions,
  theme: UiTheme,
) => TerminalObject;

export interface MarkdownTransformContext {
  messageType: 'user' | 'assistant' | 'assistant-thinking';
  isStreaming: boolean;
  availableWidth: number;
  messageId?: string;
  timestamp?: string;
}

export type MarkdownTransformer = (markdown: string, context: MarkdownTransformContext) => string;

export interface ToolRenderResultOptions {
  expanded: boolean;
  isPartial: boolean;
}

/** The rendering functions of a tool. */
export interface ToolRenderers {
  renderShell?: 'default' | 'self';
  renderCall?: (args: TerminalObject, theme: UiTheme, context: TerminalObject) => TerminalObject;
  renderResult?: (
    result: TerminalObject,
    options: ToolRenderResultOptions,
    theme: UiTheme,
    context: TerminalObject,
  ) => TerminalObject;
}

export type ToolRendererResolver = (
  toolName: string,
  next: () => ToolRenderers | undefined,
) => ToolRenderers | undefined;

export type TerminalInputHandler = (data: string) => { consume?: boolean; data?: string } | undefined;

export interface WorkingIndicatorOptions {
  frames?: string[];
  intervalMs?: number;
}

export type AutocompleteProviderFactory = (current: TerminalObject) => TerminalObject;
