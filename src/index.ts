import type { ToolChoice } from './agent/tool-choice.ts';
import { AgentClient } from './client/agent-client.ts';
import { openLocalEngine } from './embed/local-engine.ts';
import type { AddonOptions } from './engine/addons/detect.ts';
import type { ApprovalFlags } from './engine/approvals/policy.ts';
import type { SystemPromptOverrides } from './extend/prompt-parts.ts';
import { Refusal } from './protocol/errors.ts';
import type { ThinkingLevel } from './protocol/generated/vocabulary.ts';
import type { SessionHooks } from './session/hooks.ts';
import { memoryPair } from './wire/memory.ts';

export type * from './agent/hooks.ts';
export type { ToolChoice } from './agent/tool-choice.ts';
export { AgentClient } from './client/agent-client.ts';
export type { CustomTool, CustomToolCall, CustomToolOutput } from './client/custom-tools.ts';
export { CommandFailed, ConnectionLost } from './client/errors.ts';
export { EventsLost } from './client/event-iterator.ts';
export type { PromptRun } from './client/prompt-run.ts';
export {
  type ApprovalAnswer,
  type ApprovalRequest,
  isApprovalRequest,
  type UiAnswer,
  type UiHandler,
} from './client/ui-requests.ts';
export { AgentSession, type ExtensionBindings } from './embed/agent-session.ts';
export {
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
  createAgentSession,
} from './embed/create-agent-session.ts';
export type { ExtensionUIContext } from './embed/embedder-ui.ts';
export { ExtensionRunner } from './embed/extension-runner.ts';
export { AuthStorage } from './embed/models/auth-storage.ts';
export {
  type CreateModelRuntimeOptions,
  ModelRuntime,
  PiModelRegistry as ModelRegistry,
} from './embed/models/model-runtime.ts';
export {
  type ResolveCliModelResult,
  resolveCliModel,
  resolveModelScopeWithDiagnostics,
  type ScopedModel,
} from './embed/models/resolve-models.ts';
export type * from './embed/pi-types/events.ts';
export type * from './embed/pi-types/programs.ts';
export type * from './embed/pi-types/sessions.ts';
export type * from './embed/pi-types/terminal.ts';
export type * from './embed/pi-types/tools.ts';
export {
  DefaultResourceLoader,
  type DefaultResourceLoaderOptions,
  type ResourceDiagnostic,
} from './embed/resources/default-resource-loader.ts';
export {
  createExtensionRuntime,
  discoverAndLoadExtensions,
  type InlineExtension,
  type LoadExtensionsResult,
  type SourceInfo,
} from './embed/resources/load-extensions.ts';
export type { PromptTemplate, ResourceLoader, Skill } from './embed/resources/resource-view.ts';
export {
  AgentSessionRuntime,
  type CreateAgentSessionRuntimeFactory,
  type CreateAgentSessionRuntimeResult,
  createAgentSessionRuntime,
} from './embed/sdk/agent-session-runtime.ts';
export {
  type AgentSessionRuntimeDiagnostic,
  type AgentSessionServices,
  type CreateAgentSessionFromServicesOptions,
  type CreateAgentSessionServicesOptions,
  createAgentSessionFromServices,
  createAgentSessionServices,
} from './embed/sdk/agent-session-services.ts';
export * from './embed/sdk/pi-package.ts';
export type { AgentSessionEvent, AgentSessionEventListener } from './embed/session-events.ts';
export type { PromptOptions } from './embed/session-input.ts';
export type { ModelCycleResult } from './embed/session-models.ts';
export type { AgentState } from './embed/session-state.ts';
export type { SessionInfo } from './embed/sessions/list-sessions.ts';
export { type NewSessionOptions, SessionManager } from './embed/sessions/session-manager.ts';
export { SettingsManager } from './embed/settings/settings-manager.ts';
export type { AddonOptions } from './engine/addons/detect.ts';
export type {
  ExtensionAPI,
  ExtensionContext,
  ExtensionFactory,
  ToolDefinition,
} from './extend/extensions/extension-api.ts';
export type { SystemPromptOverrides } from './extend/prompt-parts.ts';
export type * from './protocol/generated/vocabulary.ts';
export type * from './session/hooks.ts';
export { Refusal };

/** Options of `openAgent`, the entry point of programs that embed an agent. */
export interface OpenAgentOptions {
  /** Defaults to the current folder. */
  readonly cwd?: string;
  /** The folder of settings, credentials and sessions; default `~/.pi/agent`. */
  readonly agentDir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** `provider/id`, or an unambiguous id. */
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  /** A script for the built-in model, see docs/scripted-model.md. */
  readonly script?: string;
  /** A session file to open or create; without it nothing is stored unless `keep` is set. */
  readonly session?: string;
  /** Store a new session in pi's folder or in `sessionDirectory`. */
  readonly keep?: boolean;
  readonly sessionDirectory?: string;
  /** The session name shown in lists. */
  readonly name?: string;
  /** Whether to trust the project in `cwd`, for this agent only. */
  readonly trust?: boolean;
  /** The tools that are active at the start. */
  readonly tools?: ToolChoice;
  /** The loosest approval mode, and the sandbox of commands: see docs/approvals.md. By default nothing is questioned. */
  readonly approvals?: ApprovalFlags;
  /** Parts of the system prompt. */
  readonly prompt?: SystemPromptOverrides;
  /** Addons besides those in the folders of user and project. */
  readonly addons?: AddonOptions;
  /** Callbacks of your own code. */
  readonly hooks?: SessionHooks;
}

/** An agent in this process. */
export interface LocalAgent extends AsyncDisposable {
  readonly client: AgentClient;
  /** Stops all work and releases the session. */
  close(): Promise<void>;
}

/** Opens an agent in this process and connects a client to it. */
export async function openAgent(options: OpenAgentOptions = {}): Promise<LocalAgent> {
  const { session, keep, model } = options;
  const engine = await openLocalEngine({
    ...options,
    requested: model === undefined ? undefined : { pattern: model },
    first: () =>
      session !== undefined ? { kind: 'file', path: session, create: true } : { kind: keep ? 'new' : 'memory' },
  });
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  engine.connect(inside);
  const close = async () => {
    try {
      await engine.close();
    } finally {
      client.close();
    }
  };
  return { client, close, [Symbol.asyncDispose]: close };
}
