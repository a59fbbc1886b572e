import type { Toolbox } from '../../agent/toolbox.ts';
import type { ShellOptions } from '../../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import type { VirtualModelDefinition } from '../../model/registry/virtual-models.ts';
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
import type { ExtensionMcpServers } from '../mcp/extension-servers.ts';
import type { CustomMessageDraft } from './events.ts';
import type { ExecOptions, ExecResult, Mode, NavigateOptions, SendOptions, ToolDefinition } from './extension-api.ts';
import type { ExtensionSource } from './load/find-extensions.ts';
import type { SdkLoader } from './pi-shims/extension-environment.ts';

/** The operations of the agent that extensions may call. */
export interface ExtensionHost {
  readonly mode: Mode;
  readonly agentDir: string;
  readonly shell: () => ShellOptions;
  readonly dialogs: Dialogs;
  readonly registry: ModelRegistry;
  readonly toolbox: Toolbox;
  /** Loads pi's SDK, with which extensions create agents of their own. */
  readonly sdk?: SdkLoader;
  /** Command line flags that tau does not define. */
  readonly flags: ReadonlyMap<string, string | true>;
  readonly session: () => Session;
  readonly project: () => { readonly cwd: string; readonly trusted: boolean; readonly settings: Settings };
  /** The settings, also those that tau does not define. */
  readonly settings: () => object;
  readonly hasUi: () => boolean;
  readonly commands: () => readonly SlashCommand[];
  readonly publish: (event: AgentEvent) => void;
  /** All extensions ever loaded: code of earlier ones may still run. */
  readonly blamable: Set<ExtensionSource>;
  /** Running commands, including those of replaced extensions. */
  readonly commandsAtWork: Set<Promise<void>>;
  /** Sends a warning about an extension, once for each text. */
  readonly warn: (text: string) => void;
  readonly reportFailure: (extensionPath: string, event: string, error: unknown) => void;
  /** Applies one streaming step to an assistant message. */
  readonly applyStep: (message: AssistantMessage, step: AssistantMessageEvent) => AssistantMessage;
  /** Runs a change of state and publishes the changed fields. */
  readonly change: <T>(work: () => T) => T;
  readonly setModel: (model: Model) => Promise<unknown> | undefined;
  readonly setThinkingLevel: (level: ThinkingLevel) => void;
  readonly setName: (name: string) => void;
  readonly sendMessage: (message: CustomMessageDraft, options: SendOptions) => Promise<void> | void;
  readonly prompt: (content: string | ContentBlock[], options: UserMessageDelivery) => Promise<void>;
  readonly exec: (command: string, args: readonly string[], options: ExecOptions) => Promise<ExecResult>;
  readonly abort: () => void;
  readonly compact: (customInstructions: string | undefined) => Promise<CompactionResult>;
  readonly waitForIdle: () => Promise<void>;
  readonly newSession: (options: { parentSession?: string | undefined }) => Promise<{ cancelled: boolean }>;
  readonly switchSession: (path: string) => Promise<{ cancelled: boolean }>;
  readonly fork: (entryId: string, position: 'before' | 'at') => Promise<{ cancelled: boolean }>;
  readonly navigateTree: (targetId: string, options: NavigateOptions) => Promise<{ cancelled: boolean }>;
  readonly reload: () => Promise<void>;
  /** Ends the process once it is idle. */
  readonly shutdown: () => void;
  readonly toolsChanged: () => void;
  /** The definition of an extension's tool. */
  readonly toolDefinition: (name: string) => ToolDefinition | undefined;
  readonly hooksChanged: () => void;
  /** Registers a provider; throws, or rejects before the models are loaded, if its configuration is invalid. */
  readonly registerProvider: (name: string, config: object) => Promise<void> | void;
  readonly unregisterProvider: (name: string) => void;
  /** Registers a model that stands for others; throws, or rejects before the models are loaded, if it is invalid. */
  readonly registerVirtualModel: (definition: VirtualModelDefinition) => Promise<void> | void;
  readonly unregisterVirtualModel: (provider: string, id: string) => void;
  /** The MCP servers of all extensions. */
  readonly mcpServers: ExtensionMcpServers;
  readonly mcpServersChanged: () => void;
}

export interface UserMessageDelivery {
  readonly deliverAs?: 'steer' | 'followUp' | undefined;
  readonly expandPromptTemplates?: boolean | undefined;
}
