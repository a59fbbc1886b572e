import type { Dialogs } from '../../extend/dialogs.ts';
import type { SaidByExtension } from '../../extend/extensions/events.ts';
import type { SendOptions } from '../../extend/extensions/extension-api.ts';
import type { ExtensionHost, UserMessageOptions } from '../../extend/extensions/host.ts';
import type { ContentBlock, ImageContent } from '../../protocol/generated/vocabulary.ts';
import type { Acceptance } from '../../session/session.ts';
import { applyStep } from '../../wire/assistant-message.ts';
import type { Agent } from '../agent.ts';
import { idle } from '../idle.ts';
import { copyUpTo, fork, newSession, switchSession } from '../moves.ts';
import { isMute } from './stage.ts';

/** What the workshop does when extensions have changed. */
export interface HostDuties extends Pick<ExtensionHost, 'blamable' | 'commandsAtWork'> {
  readonly dialogs: Dialogs;
  readonly reload: () => Promise<void>;
  readonly toolsChanged: () => void;
  readonly hooksChanged: () => void;
}

/** The agent as extensions act on it. */
export function extensionHost(agent: Agent, duties: HostDuties): ExtensionHost {
  const { mode, lane, registry, toolbox, surroundings } = agent;
  const failed = (path: string, event: string, error: unknown) => agent.additions.failed(path, event, error);
  /** A command of its own, in its turn. */
  const inTurn = <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const { signal } = lane;
    return Promise.resolve(lane.run(() => work(signal)));
  };
  return {
    mode,
    registry,
    toolbox,
    ...duties,
    agentDir: surroundings.agentDir,
    shell: () => agent.shell,
    flags: surroundings.wishes.flags ?? new Map(),
    session: () => agent.session,
    project: () => agent.project,
    hasUi: () => mode === 'rpc' && !isMute(agent),
    commands: () => agent.additions.commands,
    publish: (event) => agent.audience.publish(event),
    failed,
    fold: applyStep,
    change: (work) => agent.change(work),
    setModel: (model) => agent.setModel(model, 'set'),
    setThinkingLevel: (level) => void agent.setThinkingLevel(level),
    setName: (name) => agent.setName(name),
    say: (message, options) => said(agent, message, options),
    prompt: (content, options) => inTurn((signal) => prompted(agent, { content, ...options }, signal)),
    exec: async (command, args, options) => {
      const { runProgram } = await import('../../system/processes/run-program.ts');
      const { env, family, cwd } = agent.shell;
      return runProgram({ command, args, env, family, ...options, cwd: options.cwd ?? cwd });
    },
    abort: () => {
      agent.additions.abort();
      void agent.session.abort();
    },
    compact: (instructions) => inTurn((signal) => agent.session.compact(instructions, signal)),
    idle: () => idle(agent),
    newSession: (options) => inTurn((signal) => newSession(agent, options, signal)),
    switchSession: (sessionPath) => inTurn((signal) => switchSession(agent, { sessionPath }, signal)),
    fork: (entryId, position) => inTurn((signal) => (position === 'at' ? copyUpTo : fork)(agent, { entryId }, signal)),
    navigate: (targetId, options) => inTurn((signal) => agent.session.navigate(targetId, options, signal)),
    reload: () => inTurn(() => duties.reload()),
    shutdown: () => agent.leave(),
    register: (name, config) => {
      const register = () => {
        registry.register(name, config);
        return agent.modelsChanged();
      };
      return registry.isLoaded ? register() : registry.load({ anyway: true }).then(register);
    },
    unregister: (name) => {
      registry.unregister(name);
      void agent.modelsChanged().catch((error: unknown) => failed('<runtime>', 'unregister_provider', error));
    },
  };
}

async function said(agent: Agent, message: SaidByExtension, options: SendOptions): Promise<void> {
  const { session, lane } = agent;
  if (!options.triggerTurn || session.run) {
    began(session.inject(message, options));
    return;
  }
  const { signal } = lane;
  // What an abort finds waiting begins no run after it.
  await lane.run(() => began(agent.session.inject(message, { ...options, triggerTurn: !signal.aborted })));
}

interface UserMessage extends UserMessageOptions {
  readonly content: string | ContentBlock[];
}

async function prompted(agent: Agent, { content, deliverAs, expandPromptTemplates }: UserMessage, signal: AbortSignal) {
  const blocks = typeof content === 'string' ? [{ type: 'text' as const, text: content }] : content;
  const message = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('\n');
  const images = blocks.filter((block): block is ImageContent => block.type === 'image');
  const [, name = '', args = ''] = (expandPromptTemplates && /^\/(\S+)\s?(.*)$/s.exec(message)) || [];
  const extensions = agent.additions.workshop?.extensions;
  if (deliverAs === undefined && extensions?.knows(name)) {
    // By itself: whoever waits for this must not wait for a command that waits for its turn.
    void extensions.run(name, args);
    return;
  }
  const manner = {
    streamingBehavior: deliverAs,
    source: 'extension' as const,
    expand: expandPromptTemplates === true,
    signal,
  };
  began(await agent.session.prompt({ message, images }, manner));
}

/** There is no answer to wait for: what it leads to begins at once. */
function began(acceptance: Acceptance | undefined): void {
  acceptance?.begin?.();
}
