import { execWith } from '../../extend/extensions/api/exec.ts';
import type { CustomMessageDraft } from '../../extend/extensions/events.ts';
import type { SendOptions } from '../../extend/extensions/extension-api.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import type { ExtensionHost, UserMessageDelivery } from '../../extend/extensions/host.ts';
import type { HookSet } from '../../extend/hook-set.ts';
import type { ExtensionMcpServers } from '../../extend/mcp/extension-servers.ts';
import type { ApprovalMode, ContentBlock, ImageContent } from '../../protocol/generated/vocabulary.ts';
import type { Acceptance } from '../../session/input/submissions.ts';
import { applyStep } from '../../wire/assistant-message.ts';
import type { Agent } from '../agent.ts';
import { publishChanges, publishExtensionError, whenIdle } from '../agent-state.ts';
import { selectModel, selectThinkingLevel } from '../models/model-selection.ts';
import { cloneSession, forkSession, newSession, switchSession } from '../session-switch.ts';
import { cannotAnswer } from './dialog-clients.ts';
import type { ModelRefreshes } from './model-refreshes.ts';
import { refreshProvider } from './refresh-models.ts';

/** Services of the add-ons that outlive a set of extensions. */
export interface ExtensionServices
  extends Pick<ExtensionHost, 'blamable' | 'commandsAtWork' | 'dialogs' | 'reload' | 'sdk'> {
  readonly hooks: HookSet;
  /** The MCP servers that extensions register. */
  readonly mcpServers: ExtensionMcpServers;
  readonly modelRefreshes: ModelRefreshes;
}

/** The agent as a set of extensions uses it. */
export function extensionHost(
  agent: Agent,
  { hooks, dialogs, blamable, commandsAtWork, reload, sdk, mcpServers, modelRefreshes }: ExtensionServices,
  extensions: () => Extensions,
): ExtensionHost {
  const { mode, lane, registry, toolbox, addonPaths } = agent;
  const reportFailure = (path: string, event: string, error: unknown) =>
    publishExtensionError(agent, path, event, error);
  // Runs work as a session command of its own.
  const inLane = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const { signal } = lane;
    return Promise.resolve(lane.run(() => work(signal)));
  };
  const modelsChanged = (event: string) =>
    void agent.onModelsChanged().catch((error: unknown) => reportFailure('<runtime>', event, error));
  const whenLoaded = (register: () => void) => {
    const registerNow = () => {
      register();
      return agent.onModelsChanged();
    };
    return registry.isLoaded ? registerNow() : registry.load({ anyway: true }).then(registerNow);
  };
  return {
    mode,
    registry,
    toolbox,
    dialogs,
    blamable,
    commandsAtWork,
    ...(sdk ? { sdk } : {}),
    agentDir: addonPaths.agentDir,
    shell: () => agent.shell,
    flags: addonPaths.options.flags ?? new Map(),
    session: () => agent.session,
    project: () => agent.project,
    settings: () => structuredClone(agent.project.settings),
    hasUi: () => mode === 'rpc' && !cannotAnswer(agent),
    commands: () => agent.addons.loaded?.commands ?? [],
    publish: (event) => agent.broadcast.publish(event),
    warn: (text) => agent.warnings.report('extension', [text]),
    reportFailure,
    applyStep,
    change: (work) => publishChanges(agent, work),
    setModel: (model) => selectModel(agent, { model, source: 'set' }),
    setThinkingLevel: (level) => void selectThinkingLevel(agent, level),
    setName: (name) => agent.setName(name),
    sendMessage: (message, options) => injectMessage(agent, message, options),
    prompt: (content, options) => {
      const approvalLimit = agent.approvals.commandLimit;
      return inLane((signal) => submitPrompt(agent, { content, ...options, approvalLimit }, signal));
    },
    exec: execWith(() => agent.shell),
    abort: () => {
      dialogs.dismissAll('abort');
      void agent.session.abort();
    },
    compact: (instructions) => inLane((signal) => agent.session.compact(instructions, signal)),
    waitForIdle: () => whenIdle(agent),
    newSession: (options) => inLane((signal) => newSession(agent, options, signal)),
    switchSession: (sessionPath) => inLane((signal) => switchSession(agent, { sessionPath }, signal)),
    fork: (entryId, position) =>
      inLane((signal) => (position === 'at' ? cloneSession : forkSession)(agent, { entryId }, signal)),
    navigateTree: (targetId, options) => inLane((signal) => agent.session.navigate(targetId, options, signal)),
    reload: () => inLane(reload),
    toolDefinition: (name) => extensions().toolDefinition(name),
    toolsChanged: () => publishTools(agent, extensions()),
    hooksChanged: () => hooks.put('extensions', extensions().hooks),
    shutdown: () => agent.requestExit(),
    registerProvider: (name, config) => {
      const removed = modelRefreshes.begin(name);
      const registered = whenLoaded(() => {
        if (!removed.aborted) registry.register(name, config);
      });
      const refresh = () => refreshProvider(agent, { name, config, extensionPath: '<runtime>', removed });
      return registered.then(refresh);
    },
    unregisterProvider: (name) => {
      modelRefreshes.stop(name);
      registry.unregister(name);
      modelsChanged('unregister_provider');
    },
    registerVirtualModel: (definition) => whenLoaded(() => registry.virtual.register(definition)),
    unregisterVirtualModel: (provider, id) => {
      registry.virtual.unregister(provider, id);
      modelsChanged('unregister_virtual_model');
    },
    mcpServers,
    mcpServersChanged: () => extensions().notifyMcpServers(mcpServers.list()),
  };
}

/** Offers the tools of the extensions in place of those before. */
export function publishTools(agent: Agent, extensions: Extensions | undefined): void {
  const isOffered = (name: string) => extensions?.isActiveByDefault(name) === true;
  publishChanges(agent, () => agent.toolbox.setTools('extension', extensions?.tools ?? [], { isOffered }));
}

async function injectMessage(agent: Agent, message: CustomMessageDraft, given: SendOptions): Promise<void> {
  const { session, lane } = agent;
  const options = { ...given, approvalLimit: agent.approvals.commandLimit };
  if (!options.triggerTurn || session.run) {
    beginRun(session.inject(message, options));
    return;
  }
  const { signal } = lane;
  // A message that waited during an abort starts no run.
  await lane.run(() => beginRun(agent.session.inject(message, { ...options, triggerTurn: !signal.aborted })));
}

interface ExtensionPrompt extends UserMessageDelivery {
  readonly content: string | ContentBlock[];
  readonly approvalLimit: ApprovalMode | undefined;
}

async function submitPrompt(
  agent: Agent,
  { content, deliverAs, expandPromptTemplates, approvalLimit }: ExtensionPrompt,
  signal: AbortSignal,
) {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const message = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const images = blocks.filter((block): block is ImageContent => block.type === 'image');
  const [, name = '', args = ''] = (expandPromptTemplates && /^\/(\S+)\s?(.*)$/s.exec(message)) || [];
  const extensions = agent.addons.loaded?.extensions;
  if (deliverAs === undefined && extensions?.hasCommand(name)) {
    // Not awaited: the command may wait for the session lane, which waits for this.
    void agent.approvals.withCommandLimit(approvalLimit, () => extensions.runCommand(name, args));
    return;
  }
  const options = {
    streamingBehavior: deliverAs,
    source: 'extension' as const,
    expand: expandPromptTemplates === true,
    signal,
  };
  beginRun(await agent.session.prompt({ message, images, approvalLimit }, options));
}

/** Starts the run at once: there is no response to send first. */
function beginRun(acceptance: Acceptance | undefined): void {
  acceptance?.begin?.();
}
