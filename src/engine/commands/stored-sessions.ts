import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionSummary } from '../../protocol/generated/vocabulary.ts';
import { sessionNameFrom, renameStoredSession } from '../../store/sessions/session-name.ts';
import type { Agent } from '../agent.ts';
import { isCurrentSession } from '../current-session.ts';
import type { Handlers } from '../dispatch.ts';

export const storedSessions = {
  list_sessions: async ({ cwd, cursor, limit }, { agent }) => {
    const list = await agent.sessionList;
    const { sessions, ...rest } = await list.list({
      ...(cwd === undefined ? {} : { cwd: resolveSessionPath(agent, cwd) }),
      extraFolder: agent.sessionDirectory,
      cursor,
      limit,
    });
    return { sessions: sessions.map((session) => withStatus(session, agent)), ...rest };
  },

  delete_session: async ({ sessionPath }, { agent }) => {
    const path = resolveSessionPath(agent, sessionPath);
    if (isCurrentSession(agent, path)) {
      const reason = 'The agent is in this session: move to another one before you delete it';
      throw new Refusal('session_in_use', `${reason}: ${path}`, { holder: process.pid });
    }
    const { moveToTrash } = await import('../../store/sessions/trash.ts');
    return { trashPath: await moveToTrash(path) };
  },

  rename_session: async ({ sessionPath, name }, { agent }) => {
    const sessionName = sessionNameFrom(name);
    const path = resolveSessionPath(agent, sessionPath);
    if (isCurrentSession(agent, path)) agent.setName(sessionName);
    else await renameStoredSession(path, sessionName);
    return undefined;
  },
} satisfies Partial<Handlers>;

const resolveSessionPath = (agent: Agent, path: string) => resolve(agent.session.log.header.cwd, path);

/** Adds the live status of the agent's own session; for others only the file is known. */
function withStatus(session: SessionSummary, agent: Agent): SessionSummary {
  if (session.id !== agent.session.log.header.id || !isCurrentSession(agent, session.path)) return session;
  const { isStreaming, pendingUi } = agent.state;
  if (!isStreaming) return { ...session, status: 'idle' };
  return { ...session, status: pendingUi.length > 0 ? 'waiting' : 'running' };
}
