import type { Toolbox } from '../../agent/toolbox.ts';
import type { ShellOptions } from '../../agent/tools/shell.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import type {
  AgentEvent,
  AssistantMessage,
  AssistantMessageEvent,
  CompactionResult,
  ContentBlock,
  Model,
  SlashCommand,
  ThinkingLevel,
} from '../../protocol/generated/vocabulary.ts';
import type { Session } from '../../session/session.ts';
import type { Settings } from '../../store/settings.ts';
import type { Dialogs } from '../dialogs.ts';
import type { CustomMessageDraft } from './events.ts';
import type { ExecOptions, ExecResult, Mode, NavigateOptions, SendOptions } from './extension-api.ts';
import type { ExtensionSource } from './find-extensions.ts';

/** The agent as extensions act on it. */
export interface ExtensionHost {
  readonly mode: Mode;
  readonly agentDir: string;
  /** How commands are run. */
  readonly shell: () => ShellOptions;
  readonly dialogs: Dialogs;
  readonly registry: ModelRegistry;
  readonly toolbox: Toolbox;
  /** Flags of the command line that tau does not know. */
  readonly flags: ReadonlyMap<string, string | true>;
  readonly session: () => Session;
  readonly project: () => { readonly cwd: string; readonly trusted: boolean; readonly settings: Settings };
  /** Whether anybody can be asked. */
  readonly hasUi: () => boolean;
  readonly commands: () => readonly SlashCommand[];
  readonly publish: (event: AgentEvent) => void;
  /** Everything that was ever run: some of it may still be at work. */
  readonly blamable: Set<ExtensionSource>;
  /** Commands that run, also those of extensions that are gone. */
  readonly commandsAtWork: Set<Promise<void>>;
  /** Tells clients that an extension failed. */
  readonly reportFailure: (extensionPath: string, event: string, error: unknown) => void;
  /** An answer after one more step. */
  readonly applyStep: (message: AssistantMessage, step: AssistantMessageEvent) => AssistantMessage;
  /** Does something that may change the state, and tells clients what it changed. */
  readonly change: <T>(work: () => T) => T;
  readonly setModel: (model: Model) => Promise<unknown> | undefined;
  readonly setThinkingLevel: (level: ThinkingLevel) => void;
  readonly setName: (name: string) => void;
  readonly sendMessage: (message: CustomMessageDraft, options: SendOptions) => Promise<void> | void;
  readonly prompt: (content: string | ContentBlock[], options: SendUserMessageOptions) => Promise<void>;
  readonly exec: (command: string, args: readonly string[], options: ExecOptions) => Promise<ExecResult>;
  readonly abort: () => void;
  readonly compact: (customInstructions: string | undefined) => Promise<CompactionResult>;
  readonly waitForIdle: () => Promise<void>;
  readonly newSession: (options: { parentSession?: string | undefined }) => Promise<{ cancelled: boolean }>;
  readonly switchSession: (path: string) => Promise<{ cancelled: boolean }>;
  readonly fork: (entryId: string, position: 'before' | 'at') => Promise<{ cancelled: boolean }>;
  readonly navigateTree: (targetId: string, options: NavigateOptions) => Promise<{ cancelled: boolean }>;
  readonly reload: () => Promise<void>;
  /** Ends the process once nothing is being done. */
  readonly shutdown: () => void;
  /** The tools of extensions are others than before. */
  readonly toolsChanged: () => void;
  /** A handler or a command was added or has gone. */
  readonly hooksChanged: () => void;
  /** Makes a provider known; throws, or rejects where models are not loaded yet, when it makes no sense. */
  readonly registerProvider: (name: string, config: object) => Promise<void> | void;
  readonly unregisterProvider: (name: string) => void;
}

export interface SendUserMessageOptions {
  readonly deliverAs?: 'steer' | 'followUp' | undefined;
  readonly expandPromptTemplates?: boolean | undefined;
}
