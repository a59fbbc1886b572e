import type { ForkPoints, Result, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { contextUsage } from '../../session/context/context-usage.ts';
import { textOf } from '../../session/input/input.ts';
import type { Agent } from '../agent.ts';
import type { Handlers } from '../dispatch.ts';
import { treeOf } from './tree.ts';

export const reading = {
  get_state: (_params, { agent }) => agent.state,

  get_messages: (_params, { agent }) => ({ messages: [...agent.session.transcript.messages] }),

  get_messages_page: async (wanted, { agent }) => {
    const { session } = agent;
    const { MessagePages } = await import('../../session/context/message-page.ts');
    session.pages ??= new MessagePages(session.log);
    return session.pages.page(wanted);
  },

  get_entries: ({ since, limit }, { agent }) => {
    const { log } = agent.session;
    const wanted = limit === undefined ? undefined : limit + 1;
    const found = log.entries({
      ...(since === undefined ? {} : { after: since }),
      ...(wanted ? { limit: wanted } : {}),
    });
    const hasMore = wanted !== undefined && found.length === wanted;
    return { entries: hasMore ? found.slice(0, -1) : found, leafId: log.leafId, ...(hasMore ? { hasMore } : {}) };
  },

  get_tree: (_params, { agent }) => treeOf(agent.session.log),

  get_fork_messages: (_params, { agent }) => forkPoints(agent),
  get_branch_messages: (_params, { agent }) => forkPoints(agent),

  get_last_assistant_text: (_params, { agent }) => ({ text: lastText(agent) }),

  get_session_stats: (_params, { agent }) => statsOf(agent),

  get_commands: ({ builtins }, { agent: { additions }, connection: { capabilities } }) => {
    const own = () => ({ commands: [...additions.commands] });
    const loading = additions.loading;
    if (builtins ?? capabilities.builtins) return Promise.resolve(loading).then(() => withBuiltins(additions.commands));
    return loading === undefined ? own() : loading.then(own);
  },
} satisfies Partial<Handlers>;

async function withBuiltins(commands: readonly SlashCommand[]): Promise<{ commands: SlashCommand[] }> {
  const { builtinList } = await import('../builtin-commands.ts');
  const builtins = builtinList().filter(({ name }) => !commands.some((command) => command.name === name));
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

/** The text of the last answer; one that was stopped before its first word does not count. */
export function lastText({ session }: Agent): string | null {
  const answer = session.transcript.messages.findLast(
    (message) => message.role === 'assistant' && !(message.stopReason === 'aborted' && message.content.length === 0),
  );
  if (answer?.role !== 'assistant') return null;
  const text = answer.content
    .map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
    .trim();
  return text === '' ? null : text;
}
