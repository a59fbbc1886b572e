import { resolve } from 'node:path';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Forked, Moved } from '../protocol/generated/vocabulary.ts';
import { textOf } from '../session/input/input.ts';
import { recordChoice, storedChoice } from '../session/model-choice.ts';
import { withSessionLock } from '../store/sessions/session-file.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import type { Agent } from './agent.ts';
import { isCurrent } from './current-session.ts';

type Reason = Parameters<Agent['enter']>[1];

interface Wish {
  /** Only make or check the target; the agent stays where it is. */
  readonly detached?: boolean | undefined;
}

export async function newSession(
  agent: Agent,
  { parentSession, detached }: Wish & { parentSession?: string | undefined },
  signal: AbortSignal,
): Promise<Moved> {
  if (await mayNot(() => agent.hooks.beforeSwitch?.({ reason: 'new' }, signal), signal)) return { cancelled: true };
  return move(agent, { reason: 'new', detached }, () => newLog(agent, parentSession));
}

export async function switchSession(
  agent: Agent,
  { sessionPath, detached }: Wish & { sessionPath: string },
  signal: AbortSignal,
): Promise<Moved> {
  const path = resolve(agent.session.log.header.cwd, sessionPath);
  const target = { reason: 'resume', targetSessionFile: path } as const;
  if (await mayNot(() => agent.hooks.beforeSwitch?.(target, signal), signal)) return { cancelled: true };
  if (isCurrent(agent, path)) {
    if (!detached) await agent.session.stop();
    return { cancelled: false, sessionId: agent.session.log.header.id, sessionFile: agent.session.log.path };
  }
  // Whoever opens it mends it, and tells of it.
  if (detached) return withSessionLock(path, ({ id }) => ({ cancelled: false, sessionId: id, sessionFile: path }));
  return move(agent, { reason: 'resume', detached }, () => SessionLog.open(path));
}

/** Copies what was said before a user message; answers what that message says. */
export async function fork(
  agent: Agent,
  { entryId, detached }: Wish & { entryId: string },
  signal: AbortSignal,
): Promise<Forked> {
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

/** Copies everything up to an entry, the leaf unless one is named. */
export async function copyUpTo(
  agent: Agent,
  { entryId = agent.session.log.leafId, detached }: Wish & { entryId?: string | null },
  signal: AbortSignal,
): Promise<Moved> {
  const isLeaf = entryId === agent.session.log.leafId;
  if (entryId === null) throw new Refusal('not_found', 'Cannot clone session: no current entry selected');
  if (!agent.session.log.has(entryId)) throw new Refusal('not_found', `Entry not found: ${entryId}`);
  const from = { entryId, position: 'at' } as const;
  if (await mayNot(() => agent.hooks.beforeFork?.(from, signal), signal)) return { cancelled: true };
  // Before the copy is made: it holds what the run said last.
  if (!detached) await agent.session.stop();
  const last = () => (isLeaf ? agent.session.log.leafId : entryId);
  return move(agent, { reason: 'fork', detached }, () => copyOf(agent, last()));
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
  if (detached) {
    const { choice } = agent.session;
    // Whoever opens it goes on with what somebody has chosen here.
    if (choice.notice === undefined && !storedChoice(log).model) recordChoice(log, choice);
    await log.close({ keepEmpty: true });
  } else {
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

async function newLog(agent: Agent, parentSession: string | undefined): Promise<SessionLog> {
  const { cwd } = agent.session.log.header;
  const header = { cwd, ...(parentSession === undefined ? {} : { parentSession }) };
  const directory = await directoryOf(agent);
  return directory === undefined ? SessionLog.inMemory(header) : SessionLog.create({ ...header, directory });
}

async function copyOf(agent: Agent, leafId: string | null): Promise<SessionLog> {
  const { log } = agent.session;
  return log.copy({ leafId, directory: await directoryOf(agent) });
}

/** Where new sessions go, unless an extension has another place for them; undefined: they stay in memory. */
async function directoryOf({ sessionDirectory, project, additions }: Agent): Promise<string | undefined> {
  if (sessionDirectory === undefined) return undefined;
  return (await additions.workshop?.extensions?.sessionFolder(project.cwd)) ?? sessionDirectory;
}
