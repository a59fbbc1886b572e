import { resolve } from 'node:path';
import { unlessAborted } from '../agent/unless-aborted.ts';
import { Refusal } from '../protocol/errors.ts';
import type { Forked, Moved, SessionHeader } from '../protocol/generated/vocabulary.ts';
import { textOf } from '../session/input/input.ts';
import { recordChoice, storedChoice } from '../session/model-choice.ts';
import { withSessionLock } from '../store/sessions/session-file.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import type { Agent } from './agent.ts';
import { isCurrentSession } from './agent-state.ts';
import { recordChosen } from './approvals/session-approvals.ts';
import type { SwitchReason } from './current-session.ts';

interface SwitchOptions {
  // Only create or check the target; the agent stays in its session.
  readonly detached?: boolean | undefined;
}

/** Creates an empty session and switches to it, unless a hook vetoes. */
export async function newSession(
  agent: Agent,
  { parentSession, detached }: SwitchOptions & { parentSession?: string | undefined },
  signal: AbortSignal,
): Promise<Moved> {
  if (await isVetoed(() => agent.hooks.beforeSwitch?.({ reason: 'new' }, signal), signal)) return { cancelled: true };
  return switchOrDetach(agent, { reason: 'new', detached }, () => createLog(agent, parentSession));
}

export async function switchSession(
  agent: Agent,
  { sessionPath, detached }: SwitchOptions & { sessionPath: string },
  signal: AbortSignal,
): Promise<Moved> {
  const path = resolve(agent.session.log.header.cwd, sessionPath);
  const target = { reason: 'resume', targetSessionFile: path } as const;
  if (await isVetoed(() => agent.hooks.beforeSwitch?.(target, signal), signal)) return { cancelled: true };
  if (isCurrentSession(agent, path)) {
    if (!detached) await agent.session.stop();
    return { cancelled: false, sessionId: agent.session.log.header.id, sessionFile: agent.session.log.path };
  }
  // The process that opens the session repairs it and reports that.
  const moved = ({ id }: SessionHeader) => ({ cancelled: false, sessionId: id, sessionFile: path });
  // An agent of a viewer only reads.
  if (detached) return withSessionLock(path, moved, { ofCluster: agent.isKeptByHost || agent.isReadOnly });
  // The file may be older than the copy of the host.
  if (agent.isKeptByHost)
    throw new Refusal('not_supported', 'The host of this agent opens stored sessions: the agent cannot change to one');
  return switchOrDetach(agent, { reason: 'resume', detached }, () => SessionLog.open(path));
}

/** Copies the branch before a user message into a new session; returns the message's text. */
export async function forkSession(
  agent: Agent,
  { entryId, detached }: SwitchOptions & { entryId: string },
  signal: AbortSignal,
): Promise<Forked> {
  const { log } = agent.session;
  const entry = log.entry(entryId);
  if (entry?.type !== 'message' || entry.message.role !== 'user') {
    throw new Refusal('not_found', 'Invalid entry ID for forking');
  }
  const text = textOf(entry.message);
  const from = { entryId, position: 'before' } as const;
  if (await isVetoed(() => agent.hooks.beforeFork?.(from, signal), signal)) return { text, cancelled: true };
  return {
    text,
    ...(await switchOrDetach(agent, { reason: 'fork', detached }, () => copyLog(agent, log.parentOf(entryId)))),
  };
}

/** Copies the branch up to an entry, by default the leaf. */
export async function cloneSession(
  agent: Agent,
  { entryId = agent.session.log.leafId, detached }: SwitchOptions & { entryId?: string | null },
  signal: AbortSignal,
): Promise<Moved> {
  const isLeaf = entryId === agent.session.log.leafId;
  if (entryId === null) throw new Refusal('not_found', 'Cannot clone session: no current entry selected');
  if (!agent.session.log.has(entryId)) throw new Refusal('not_found', `Entry not found: ${entryId}`);
  const from = { entryId, position: 'at' } as const;
  if (await isVetoed(() => agent.hooks.beforeFork?.(from, signal), signal)) return { cancelled: true };
  // Before the copy: it must contain the last messages of the run.
  if (!detached) await agent.session.stop();
  const last = () => (isLeaf ? agent.session.log.leafId : entryId);
  return switchOrDetach(agent, { reason: 'fork', detached }, () => copyLog(agent, last()));
}

/** Whether a hook vetoes. An abort vetoes too; a failing hook does not. */
async function isVetoed(callHook: () => Promise<unknown> | undefined, signal: AbortSignal): Promise<boolean> {
  const verdict = (async () => callHook())();
  const veto = await unlessAborted(
    verdict.catch(() => undefined),
    signal,
  );
  return signal.aborted || veto !== undefined;
}

/** Creates or opens the target and switches to it unless `detached`. A failure leaves the run alone. */
async function switchOrDetach(
  agent: Agent,
  { reason, detached }: { reason: SwitchReason; detached: boolean | undefined },
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
    // The process that opens the session continues with the model chosen here.
    if (choice.notice === undefined && !storedChoice(log).model) recordChoice(log, choice);
    if (reason !== 'resume') recordChosen(log, agent.approvals.session.chosen);
    await log.close({ keepEmpty: true });
  } else {
    await agent.currentSession.switchTo(log, reason).catch(async (error: unknown) => {
      if (agent.session.log !== log) await log.close();
      throw error;
    });
    if (reason !== 'resume') recordChosen(log, agent.approvals.session.chosen);
  }
  return moved;
}

async function createLog(agent: Agent, parentSession: string | undefined): Promise<SessionLog> {
  const { cwd } = agent.session.log.header;
  const header = { cwd, ...(parentSession === undefined ? {} : { parentSession }) };
  const directory = await newSessionDirectory(agent);
  return directory === undefined ? SessionLog.inMemory(header) : SessionLog.create({ ...header, directory });
}

async function copyLog(agent: Agent, leafId: string | null): Promise<SessionLog> {
  const { log } = agent.session;
  return log.copy({ leafId, directory: await newSessionDirectory(agent) });
}

/** Directory for new sessions, which an extension may override; undefined keeps them in memory. */
async function newSessionDirectory({ sessionDirectory, project, addons }: Agent): Promise<string | undefined> {
  if (sessionDirectory === undefined) return undefined;
  return (await addons.loaded?.extensions?.sessionFolder(project.cwd)) ?? sessionDirectory;
}
