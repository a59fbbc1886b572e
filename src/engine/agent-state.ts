import type { Broadcast } from '../fanout/broadcast.ts';
import { messageOf } from '../protocol/errors.ts';
import type { SessionState, WarningEvent } from '../protocol/generated/vocabulary.ts';
import { ExitCalled } from '../system/exit-call.ts';
import { realPath } from '../system/files/real-path.ts';
import { warn } from '../system/terminal-text.ts';
import type { Agent } from './agent.ts';
import { ignoreErrors } from './grace-period.ts';

/** The agent's state as sent to clients. */
export function stateOf({
  session,
  currentProject,
  toolbox,
  approvals,
  addons: { loaded: addons },
}: Agent): SessionState {
  const { project, skippedFiles } = currentProject;
  const { choice, log, modes, queue, run, transcript } = session;
  return {
    model: choice.model,
    modelFallbackMessage: choice.notice,
    thinkingLevel: choice.thinkingLevel,
    isStreaming: run !== undefined,
    isIdle: run === undefined,
    isCompacting: session.compactor.isBusy,
    steeringMode: modes.steering,
    followUpMode: modes.followUp,
    interruptMode: modes.interrupt,
    sessionFile: log.path,
    sessionId: log.header.id,
    sessionName: transcript.name,
    cwd: log.header.cwd,
    projectTrusted: project.trusted,
    skippedFiles: skippedFiles.length > 0 ? [...skippedFiles] : undefined,
    autoCompactionEnabled: session.automatic.compaction,
    messageCount: transcript.messageCount,
    pendingMessageCount: queue.length,
    queuedMessageCount: queue.length,
    queuedMessages: queue.items,
    todoPhases: [...(addons?.todoPhases ?? [])],
    pendingUi: [...(addons?.dialogs.pending ?? [])],
    activeTools: toolbox.activeNames,
    mcpServers: addons?.mcpServers,
    runId: run?.id,
    ...approvals.state,
    runningBash: session.shell.running,
  };
}

/** Publishes what differs from an earlier state: one event with all changes, and those of name and thinking level. */
export function publishStateSince({ state: after, broadcast, hooks }: Agent, before: SessionState): void {
  const names = Object.keys({ ...before, ...after }) as (keyof SessionState)[];
  const changed = names.filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (before.sessionName !== after.sessionName) {
    broadcast.publish({ type: 'session_info_changed', name: after.sessionName });
    void ignoreErrors(() => hooks.nameChange?.(after.sessionName));
  }
  if (before.thinkingLevel !== after.thinkingLevel) {
    broadcast.publish({ type: 'thinking_level_changed', level: after.thinkingLevel });
  }
  if (changed.length === 0) return;
  const state = Object.fromEntries(changed.map((name) => [name, after[name] ?? null]));
  broadcast.publish({ type: 'state_changed', state });
}

/** Runs work that may change the state and publishes the changes. */
export function publishChanges<T>(agent: Agent, work: () => T): T {
  const before = agent.state;
  const result = work();
  publishStateSince(agent, before);
  return result;
}

/** Publishes the failure of an extension; the error of its `process.exit` is none. */
export function publishExtensionError({ broadcast }: Agent, path: string, event: string, error: unknown): void {
  if (error instanceof ExitCalled) return;
  broadcast.publish({ type: 'extension_error', extensionPath: path, event, error: messageOf(error) });
}

/** Settles when every session command is done and no run is active. */
export async function whenIdle(agent: Agent): Promise<void> {
  await agent.lane.whenEmpty();
  await agent.session.idle();
}

/** Whether a path leads to the agent's current session. */
export function isCurrentSession(agent: Agent, path: string): boolean {
  const current = agent.session.log.path;
  try {
    return current !== undefined && realPath(current) === realPath(path);
  } catch {
    // A symlink cycle leads to no session.
    return false;
  }
}

export type WarningSource = WarningEvent['source'];

/** A warning about a file or an extension that the agent ignores, in part or as a whole. */
export type Warning = Pick<WarningEvent, 'source' | 'message'>;

// Further warnings are neither printed nor published.
const MAX_WARNINGS_PUBLISHED = 500;

/** Publishes each warning of an agent once. Those before the first client are kept for it. */
export class Warnings {
  readonly #broadcast: Broadcast;
  readonly #known = new Set<string>();
  #waiting: WarningEvent[] | undefined = [];

  constructor(broadcast: Broadcast) {
    this.#broadcast = broadcast;
  }

  /** Prints new warnings to stderr and publishes them. */
  report(source: WarningSource, messages: readonly string[]): void {
    for (const message of messages) if (this.publish({ source, message })) warn(message);
  }

  /** Returns whether the warning is new. */
  publish({ source, message }: Warning): boolean {
    if (this.#known.has(message) || this.#known.size >= MAX_WARNINGS_PUBLISHED) return false;
    this.#known.add(message);
    const event: WarningEvent = { type: 'warning', source, message };
    if (this.#waiting) this.#waiting.push(event);
    else this.#broadcast.publish(event);
    return true;
  }

  /** The warnings so far, for the first client. Later ones are published at once. */
  takeEarly(): readonly WarningEvent[] {
    const early = this.#waiting ?? [];
    this.#waiting = undefined;
    return early;
  }
}
