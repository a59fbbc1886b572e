import { resolve } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import type { ForkPoints, Result, SessionSummary, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { textOf } from '../../session/input/input.ts';
import { renameStoredSession, sessionNameFrom } from '../../store/sessions/session-name.ts';
import { moveToTrash, restoreFromTrash } from '../../store/sessions/trash.ts';
import type { Agent } from '../agent.ts';
import { isCurrentSession } from '../agent-state.ts';
import type { Handlers } from '../dispatch.ts';
import { steppedList } from '../response-data.ts';
import { treeOf } from './sessions-tree.ts';

const sessionSwitch = () => import('../session-switch.ts');

/** Handlers that switch, read, list, rename, export and check sessions. */
export const sessions = {
  new_session: async (params, { agent, signal }) => (await sessionSwitch()).newSession(agent, params, signal),
  switch_session: async (params, { agent, signal }) => (await sessionSwitch()).switchSession(agent, params, signal),
  fork: async (params, { agent, signal }) => (await sessionSwitch()).forkSession(agent, params, signal),
  branch: async (params, { agent, signal }) => (await sessionSwitch()).forkSession(agent, params, signal),
  clone: async ({ detached }, { agent, signal }) => (await sessionSwitch()).cloneSession(agent, { detached }, signal),

  get_state: (_params, { agent }) => agent.state,

  get_messages: (_params, { agent }) => steppedList('messages', () => agent.session.transcript.messages),

  get_messages_page: async (query, { agent }) => {
    const { session } = agent;
    const { MessagePages } = await import('../../session/context/message-page.ts');
    session.pages ??= new MessagePages(session.log);
    return session.pages.page(query);
  },

  get_entries: ({ since, limit }, { agent }) => {
    const { log } = agent.session;
    const probeLimit = limit === undefined ? undefined : limit + 1;
    const found = log.entries({
      ...(since === undefined ? {} : { after: since }),
      ...(probeLimit ? { limit: probeLimit } : {}),
    });
    const hasMore = probeLimit !== undefined && found.length === probeLimit;
    return { entries: hasMore ? found.slice(0, -1) : found, leafId: log.leafId, ...(hasMore ? { hasMore } : {}) };
  },

  get_tree: (_params, { agent }) => treeOf(agent.session.log),

  get_fork_messages: (_params, { agent }) => forkPoints(agent),

  get_branch_messages: (_params, { agent }) => forkPoints(agent),

  get_last_assistant_text: (_params, { agent }) => ({ text: lastText(agent) }),

  get_session_stats: (_params, { agent }) => statsOf(agent),

  get_commands: ({ builtins }, { agent: { addons }, connection: { capabilities } }) => {
    const own = () => [...(addons.loaded?.commands ?? [])];
    const loading = addons.loading;
    if (builtins ?? capabilities.builtins) return Promise.resolve(loading).then(() => withBuiltins(own()));
    return loading === undefined ? { commands: own() } : loading.then(() => ({ commands: own() }));
  },

  navigate_tree: ({ targetId, ...options }, { agent, signal }) => agent.session.navigate(targetId, options, signal),

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
    return { trashPath: await moveToTrash(path) };
  },

  restore_session: async ({ trashPath }, { agent }) => ({
    sessionPath: await restoreFromTrash(resolveSessionPath(agent, trashPath)),
  }),

  rename_session: async ({ sessionPath, name }, { agent }) => {
    const sessionName = sessionNameFrom(name);
    const path = resolveSessionPath(agent, sessionPath);
    if (isCurrentSession(agent, path)) agent.setName(sessionName);
    else await renameStoredSession(path, sessionName);
    return undefined;
  },

  preflight: (_params, { agent }) => agent.preflight(),

  export_html: async ({ outputPath }, { agent }) => ({ path: await exportPage(agent, outputPath) }),

  list_files: async ({ query = '', limit = DEFAULT_FILE_LIMIT }, { agent, signal }) => {
    const { matchPaths } = await import('../../agent/tools/search/find-paths.ts');
    const folder = agent.session.log.header.cwd;
    const { paths, hasMore } = await matchPaths({ folder, query, limit: Math.min(limit, MAX_FILE_LIMIT), signal });
    return { files: paths.map((path) => ({ path })), hasMore };
  },

  set_session_name: ({ name }, { agent }) => {
    agent.setName(sessionNameFrom(name));
    return undefined;
  },

  set_trust: async ({ trusted, remember }, { agent }) => {
    await agent.currentProject.setTrust({ trusted, remember: remember ?? true });
    return { projectTrusted: agent.project.trusted };
  },
} satisfies Partial<Handlers>;

async function withBuiltins(commands: readonly SlashCommand[]): Promise<{ commands: SlashCommand[] }> {
  const { listBuiltins } = await import('./builtin-commands.ts');
  const builtins = listBuiltins().filter(({ name }) => !commands.some((command) => command.name === name));
  return { commands: [...commands, ...builtins] };
}

export function forkPoints({ session }: Agent): ForkPoints {
  const { log } = session;
  const messages = [...log.allNodesOfKind('user')].reverse().flatMap(({ id }) => {
    const entry = log.entry(id);
    if (entry?.type !== 'message' || entry.message.role !== 'user') return [];
    const text = textOf(entry.message);
    return text === '' ? [] : [{ entryId: entry.id, text }];
  });
  return { messages };
}

export function statsOf({ session, registry }: Agent): Result<'get_session_stats'> {
  const { log, transcript, choice } = session;
  const isPlan = choice.model ? registry.isSubscription(choice.model) : false;
  const usage = session.contextUsage;
  return {
    ...(log.path === undefined ? {} : { sessionFile: log.path }),
    sessionId: log.header.id,
    ...transcript.counts,
    ...(isPlan ? { subscription: true } : {}),
    ...(usage ? { contextUsage: usage } : {}),
  };
}

/** Text of the last assistant message; an aborted message without content does not count. */
export function lastText({ session }: Agent): string | null {
  const message = session.transcript.messages.findLast(
    (message) => message.role === 'assistant' && !(message.stopReason === 'aborted' && message.content.length === 0),
  );
  if (message?.role !== 'assistant') return null;
  const text = message.content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
    .trim();
  return text === '' ? null : text;
}

const resolveSessionPath = (agent: Agent, path: string) => resolve(agent.session.log.header.cwd, path);

/** Adds the live status of the agent's own session; for others only the file is known. */
function withStatus(session: SessionSummary, agent: Agent): SessionSummary {
  if (session.id !== agent.session.log.header.id || !isCurrentSession(agent, session.path)) return session;
  const { isStreaming, pendingUi } = agent.state;
  if (!isStreaming) return { ...session, status: 'idle' };
  return { ...session, status: pendingUi.length > 0 ? 'waiting' : 'running' };
}

/** Exports the session to an HTML file and returns its path. */
export async function exportPage({ session }: Agent, outputPath: string | undefined): Promise<string> {
  const { path: sessionPath, header, leafId } = session.log;
  if (sessionPath === undefined) throw new Refusal('not_supported', 'Cannot export in-memory session to HTML');
  const { exportSession } = await import('../../store/sessions/export/export-session.ts');
  return exportSession({ sessionPath, outputPath, leafId, cwd: header.cwd });
}

const DEFAULT_FILE_LIMIT = 50;
const MAX_FILE_LIMIT = 1000;
