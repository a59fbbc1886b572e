/** The embedding door: an agent inside this process, spoken to like any other, or used under pi's names. */
import type { ToolChoice } from './agent/tool-choice.ts';
import { AgentClient } from './client/agent-client.ts';
import { openLocalEngine } from './embed/local-engine.ts';
import type { AddonOptions } from './engine/addons/detect.ts';
import type { SystemPromptOverrides } from './extend/prompt-parts.ts';
import { Refusal } from './protocol/errors.ts';
import type { ThinkingLevel } from './protocol/generated/vocabulary.ts';
import type { SessionHooks } from './session/hooks.ts';
import { memoryPair } from './wire/memory.ts';

export type * from './agent/hooks.ts';
export type { ToolChoice } from './agent/tool-choice.ts';
export { AgentClient } from './client/agent-client.ts';
export { CommandFailed } from './client/command-failed.ts';
export { ConnectionLost } from './client/connection-lost.ts';
export type { CustomTool, CustomToolCall, CustomToolOutput } from './client/custom-tools.ts';
export { EventsLost } from './client/event-iterator.ts';
export type { PromptRun } from './client/prompt-run.ts';
export type { UiAnswer, UiHandler } from './client/ui-requests.ts';
export { AgentSession, type ExtensionBindings } from './embed/agent-session.ts';
export type { AgentState } from './embed/agent-view.ts';
export {
  type CreateAgentSessionOptions,
  type CreateAgentSessionResult,
  createAgentSession,
} from './embed/create-agent-session.ts';
export type { ExtensionUIContext } from './embed/embedder-ui.ts';
export type { ResourceLoader } from './embed/resource-loader.ts';
export type { AgentSessionEvent, AgentSessionEventListener } from './embed/session-events.ts';
export { type SessionInfo, SessionManager } from './embed/session-manager.ts';
export type { PromptOptions } from './embed/session-prompts.ts';
export type { AddonOptions as AdditionWishes } from './engine/addons/detect.ts';
export type {
  ExtensionAPI,
  ExtensionContext,
  ExtensionFactory,
  ToolDefinition,
} from './extend/extensions/extension-api.ts';
export type { SystemPromptOverrides as PromptWords } from './extend/prompt-parts.ts';
export type * from './protocol/generated/vocabulary.ts';
export type * from './session/hooks.ts';
export { Refusal };

export interface OpenAgentOptions {
  /** The folder to work in; the current one unless said. */
  readonly cwd?: string;
  /** Where settings, credentials and sessions are; `~/.pi/agent` unless said. */
  readonly agentDir?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The model as `provider/id`, or its id alone where that is clear. */
  readonly model?: string;
  readonly thinkingLevel?: ThinkingLevel;
  /** A file with answers for the built-in model, as docs/scripted-model.md describes it. */
  readonly script?: string;
  /** A session file to open or make; without it nothing is kept on disk unless `keep` is set. */
  readonly session?: string;
  /** Keep a new session on disk, where pi keeps them or in `sessionDirectory`. */
  readonly keep?: boolean;
  readonly sessionDirectory?: string;
  /** The name of the session, for listings. */
  readonly name?: string;
  /** Trust the project in `cwd`, or not, for as long as the agent lives. */
  readonly trust?: boolean;
  /** Which tools the model is offered to begin with. */
  readonly tools?: ToolChoice;
  /** What the model is told before the conversation. */
  readonly prompt?: SystemPromptOverrides;
  /** What is added to the agent beside what the user and the project have in their folders. */
  readonly addons?: AddonOptions;
  /** Where your own code steps in. */
  readonly hooks?: SessionHooks;
}

/** An agent that lives in this process. */
export interface LocalAgent extends AsyncDisposable {
  readonly client: AgentClient;
  /** Stops whatever runs and lets go of the session. */
  close(): Promise<void>;
}

/** Opens an agent in this process and a client that speaks to it. */
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
