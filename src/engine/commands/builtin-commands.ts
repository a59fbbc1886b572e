import { Refusal } from '../../protocol/errors.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { sessionNameFrom } from '../../store/sessions/session-name.ts';
import type { Agent } from '../agent.ts';
import { selectModel } from '../models/model-selection.ts';
import { forkSession, newSession } from '../session-switch.ts';
import { exportPage, forkPoints } from './sessions.ts';

// A call of a built-in command. It runs as a session command.
interface BuiltinCall {
  readonly agent: Agent;
  readonly args: string;
  readonly signal: AbortSignal;
}

interface BuiltinCommand {
  readonly description: string;
  readonly argumentHint?: string;
  // Returns the output for the user.
  readonly run: (call: BuiltinCall) => string | Promise<string>;
}

const commands: Readonly<Record<string, BuiltinCommand>> = {
  compact: {
    description: 'Replace the older part of the conversation by a summary',
    argumentHint: '[instructions]',
    run: async ({ agent, args, signal }) => {
      const { tokensBefore } = await agent.session.compact(args || undefined, signal);
      return `Compacted a conversation of ${tokensBefore} tokens`;
    },
  },
  model: {
    description: 'Show the models, or use another one',
    argumentHint: '[provider/id]',
    run: ({ agent, args }) => (args === '' ? modelList(agent) : useModel(agent, args)),
  },
  name: {
    description: 'Show the name of the session, or give it another one',
    argumentHint: '[name]',
    run: ({ agent, args }) => {
      if (args !== '') agent.setName(sessionNameFrom(args));
      const { name } = agent.session.transcript;
      return name === undefined ? 'The session has no name' : `The session is called ${name}`;
    },
  },
  new: {
    description: 'Start an empty session',
    run: async ({ agent, signal }) => {
      const { cancelled, sessionId } = await newSession(agent, {}, signal);
      return cancelled ? 'An extension cancelled it' : `Started the session ${sessionId}`;
    },
  },
  fork: {
    description: 'Show where the session can be forked, or fork it before a message',
    argumentHint: '[entry id]',
    run: ({ agent, args, signal }) => (args === '' ? forkList(agent) : forkAt(agent, args, signal)),
  },
  session: { description: 'Show what there is to know of the session', run: ({ agent }) => sessionFacts(agent) },
  export: {
    description: 'Write the session into an HTML file',
    argumentHint: '[file]',
    run: async ({ agent, args }) => `Exported to: ${await exportPage(agent, args || undefined)}`,
  },
  reload: {
    description: 'Read extensions, skills, templates and rules again',
    run: async ({ agent }) => {
      const addons = await agent.addons.ensureLoaded();
      await addons.reload();
      return `Loaded again: ${addons.commands.length} commands`;
    },
  },
  help: {
    description: 'Show the commands',
    run: ({ agent }) =>
      [...listBuiltins(), ...(agent.addons.loaded?.commands ?? [])]
        .map(({ name, argumentHint, description }) =>
          [`/${name}`, argumentHint, description && `- ${description}`].filter(Boolean).join(' '),
        )
        .join('\n'),
  },
};

export const findBuiltin = (name: string): BuiltinCommand | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined;

/** Built-in slash commands, for clients that request them. */
export const listBuiltins = (): SlashCommand[] =>
  Object.entries(commands).map(([name, { description, argumentHint }]) => ({
    name,
    description,
    source: 'builtin',
    ...(argumentHint === undefined ? {} : { argumentHint }),
  }));

async function modelList({ registry, session }: Agent): Promise<string> {
  await registry.load();
  const { model } = session.choice;
  const names = registry
    .available({ scripted: model?.provider === 'tau' })
    .map(({ provider, id }) => `${provider}/${id}`);
  const current = model ? `${model.provider}/${model.id}` : undefined;
  return names.map((name) => `${name === current ? '*' : ' '} ${name}`).join('\n');
}

async function useModel(agent: Agent, pattern: string): Promise<string> {
  const { model, thinkingLevel } = await agent.registry.resolve({ pattern });
  const { provider, id } = model;
  if (!agent.registry.find(provider, id)) {
    throw new Refusal('model_not_found', agent.registry.unavailableReason(provider, id));
  }
  await selectModel(agent, { model, source: 'set', requestedLevel: thinkingLevel });
  return `Using ${provider}/${id}`;
}

function forkList(agent: Agent): string {
  const { messages } = forkPoints(agent);
  if (messages.length === 0) return 'There are no messages yet';
  return messages.map(({ entryId, text }) => `${entryId}  ${text.replaceAll(/\s+/g, ' ').slice(0, 60)}`).join('\n');
}

async function forkAt(agent: Agent, entryId: string, signal: AbortSignal): Promise<string> {
  const { cancelled, text } = await forkSession(agent, { entryId }, signal);
  return cancelled ? 'An extension cancelled it' : `Forked before: ${text}`;
}

function sessionFacts({ session }: Agent): string {
  const { log, transcript } = session;
  const { counts } = transcript;
  const usage = session.contextUsage;
  const lines = [
    `Session ${log.header.id}${transcript.name === undefined ? '' : ` (${transcript.name})`}`,
    `File: ${log.path ?? 'none: it stays in memory'}`,
    `Messages: ${counts.userMessages} of the user, ${countText(counts.assistantMessages, 'answer')}, ${countText(counts.toolCalls, 'tool call')}`,
    `Tokens: ${counts.tokens.total} in all; cost: ${counts.cost.toFixed(4)}`,
  ];
  if (typeof usage?.percent === 'number')
    lines.push(`Context: ${usage.percent.toFixed(1)} % of ${usage.contextWindow}`);
  return lines.join('\n');
}

const countText = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;
