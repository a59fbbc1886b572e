import type { ForkPoints, Result, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { contextUsage } from '../../session/context/context-usage.ts';
import { textOf } from '../../session/input/input.ts';
import type { Agent } from '../agent.ts';
import type { Handlers } from '../dispatch.ts';
import { treeOf } from './sessions-tree.ts';

export const reading = {
  get_state: (_params, { agent }) => agent.state,

  get_messages: (_params, { agent }) => ({ messages: [...agent.session.transcript.messages] }),

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
    const own = () => ({ commands: [...addons.commands] });
    const loading = addons.loading;
    if (builtins ?? capabilities.builtins) return Promise.resolve(loading).then(() => withBuiltins(addons.commands));
    return loading === undefined ? own() : loading.then(own);
  },
} satisfies Partial<Handlers>;

async function withBuiltins(commands: readonly SlashCommand[]): Promise<{ commands: SlashCommand[] }> {
  const { listBuiltins } = await import('../builtin-commands.ts');
  const builtins = listBuiltins().filter(({ name }) => !commands.some((command) => command.name === name));
  return { commands: [...commands, ...builtins] };
}

export function forkPoints({ session }: Agent): ForkPoints {
  const messages = session.log.branch().flatMap((entry) => {
    if (entry.type !== 'message' || entry.message.role !== 'user') return [];
    const text = textOf(entry.message);
    return text === '' ? [] : [{ entryId: entry.id, text }];
  });
  return { messages };
}

export function statsOf({ session }: Agent): Result<'get_session_stats'> {
  const { log, transcript, choice } = session;
  const usage = contextUsage(transcript.messages, choice.model);
  return {
    ...(log.path === undefined ? {} : { sessionFile: log.path }),
    sessionId: log.header.id,
    ...transcript.counts,
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
