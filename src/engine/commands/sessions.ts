import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { Refusal } from '../../protocol/errors.ts';
import type { Forked, Moved, Params } from '../../protocol/generated/vocabulary.ts';
import { textOf } from '../../session/message-text.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import type { Agent } from '../agent.ts';
import type { Context, Handlers } from '../dispatch.ts';

type Reason = Parameters<Agent['enter']>[1];

export const sessions = {
  new_session: async ({ parentSession, detached }, { agent, signal }) => {
    if (await mayNot(() => agent.hooks.beforeSwitch?.({ reason: 'new' }, signal), signal)) return { cancelled: true };
    return move(agent, { reason: 'new', detached }, () => newLog(agent, parentSession));
  },

  switch_session: async ({ sessionPath, detached }, { agent, signal }) => {
    const path = resolve(agent.session.log.header.cwd, sessionPath);
    const target = { reason: 'resume', targetSessionFile: path } as const;
    if (await mayNot(() => agent.hooks.beforeSwitch?.(target, signal), signal)) return { cancelled: true };
    if (isCurrent(agent, path)) {
      if (!detached) await agent.session.stop();
      return { cancelled: false, sessionId: agent.session.log.header.id, sessionFile: agent.session.log.path };
    }
    return move(agent, { reason: 'resume', detached }, () => SessionLog.open(path));
  },

  fork: (params, context) => fork(params, context),
  branch: (params, context) => fork(params, context),

  clone: async ({ detached }, { agent, signal }) => {
    const { leafId: entryId } = agent.session.log;
    if (entryId === null) throw new Refusal('not_found', 'Cannot clone session: no current entry selected');
    const from = { entryId, position: 'at' } as const;
    if (await mayNot(() => agent.hooks.beforeFork?.(from, signal), signal)) return { cancelled: true };
    // Before the copy is made: it holds what the run said last.
    if (!detached) await agent.session.stop();
    return move(agent, { reason: 'fork', detached }, () => copyOf(agent, agent.session.log.leafId));
  },
} satisfies Partial<Handlers>;

async function fork({ entryId, detached }: Params<'fork'>, { agent, signal }: Context): Promise<Forked> {
  const { log } = agent.session;
  const entry = log.entry(entryId);
  if (entry?.type !== 'message' || entry.message.role !== 'user') {
    throw new Refusal('not_found', 'Invalid entry ID for forking');
  }
  const text = textOf(entry.message);
  const from = { entryId, position: 'before' } as const;
  if (await mayNot(() => agent.hooks.beforeFork?.(from, signal), signal)) return { text, cancelled: true };
  return { text, ...(await move(agent, { reason: 'fork', detached }, () => copyOf(agent, log.parentOf(entryId)))) };
}

/** Whether a hook says no. An abort while it thinks means no, too; one that fails has said nothing. */
async function mayNot(ask: () => Promise<unknown> | undefined, signal: AbortSignal): Promise<boolean> {
  const verdict = (async () => ask())();
  const answer = await unlessAborted(
    verdict.catch(() => undefined),
    signal,
  );
  return signal.aborted || answer !== undefined;
}

/** Makes or opens the target; goes there unless the client only wants to know it. A failure leaves the run alone. */
async function move(
  agent: Agent,
  { reason, detached }: { reason: Reason; detached: boolean | undefined },
  target: () => Promise<SessionLog>,
): Promise<Moved> {
  const log = await target();
  const moved = {
    cancelled: false,
    sessionId: log.header.id,
    ...(log.path === undefined ? {} : { sessionFile: log.path }),
  };
  if (detached) await log.close({ keepEmpty: true });
  else {
    await go(agent, log, reason).catch(async (error: unknown) => {
      if (agent.session.log !== log) await log.close();
      throw error;
    });
  }
  return moved;
}

async function go(agent: Agent, log: SessionLog, reason: Reason): Promise<void> {
  const arrival = await agent.prepare(log);
  await agent.session.stop();
  await agent.enter(arrival, reason);
}

function newLog(agent: Agent, parentSession: string | undefined): Promise<SessionLog> {
  const { cwd } = agent.session.log.header;
  const header = { cwd, ...(parentSession === undefined ? {} : { parentSession }) };
  if (agent.sessionDirectory === undefined) return Promise.resolve(SessionLog.inMemory(header));
  return SessionLog.create({ ...header, directory: agent.sessionDirectory });
}

function copyOf(agent: Agent, leafId: string | null): Promise<SessionLog> {
  const { log } = agent.session;
  return log.copy({ leafId, directory: agent.sessionDirectory });
}

/** Whether this path leads to the session that the agent is in. */
export function isCurrent(agent: Agent, path: string): boolean {
  const current = agent.session.log.path;
  return current !== undefined && realPath(current) === realPath(path);
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
