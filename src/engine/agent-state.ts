import type { SessionState } from '../protocol/generated/vocabulary.ts';
import { realPath } from '../system/files/real-path.ts';
import type { Agent } from './agent.ts';

/** The agent's state as sent to clients. */
export function stateOf({ session, project, toolbox, addons }: Agent): SessionState {
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
    autoCompactionEnabled: session.automatic.compaction,
    messageCount: transcript.messageCount,
    pendingMessageCount: queue.length,
    queuedMessageCount: queue.length,
    queuedMessages: queue.items,
    todoPhases: [...addons.todoPhases],
    pendingUi: [...addons.pendingUi],
    activeTools: toolbox.activeNames,
    mcpServers: addons.mcpServers,
    runId: run?.id,
    runningBash: session.shell.running,
  };
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
