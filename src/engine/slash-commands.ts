import { Refusal } from '../protocol/errors.ts';
import type { Accepted } from '../protocol/generated/vocabulary.ts';
import type { Agent } from './agent.ts';
import type { Context } from './dispatch.ts';
import { LaterAnswer } from './later-answer.ts';

/** Runs the command that a message names, if it names one. No other command waits for one of an extension. */
export async function commandIn(
  { message, builtins }: { readonly message: string; readonly builtins?: boolean | undefined },
  { agent, connection, signal }: Context,
): Promise<Accepted | LaterAnswer<Accepted> | undefined> {
  const named = nameIn(message);
  if (!named) return undefined;
  const extensions = agent.additions.workshop?.extensions;
  if (extensions?.knows(named.name)) {
    const done = extensions.run(named.name, named.args);
    return new LaterAnswer(done.then(() => ({ disposition: 'handled' as const })));
  }
  if (!(builtins ?? connection.capabilities.builtins) || isTaken(named.name, agent)) return undefined;
  const { builtinNamed } = await import('./builtin-commands.ts');
  const builtin = builtinNamed(named.name);
  if (!builtin) return undefined;
  return { disposition: 'handled', output: await builtin.run({ agent, args: named.args.trim(), signal }) };
}

/** A command of an extension is run, not queued. */
export function refuseCommand(message: string, { additions }: Agent): void {
  const named = nameIn(message);
  if (!named || !additions.workshop?.extensions?.knows(named.name)) return;
  throw new Refusal(
    'invalid_params',
    `Extension command "/${named.name}" cannot be queued. Use prompt() or execute the command when not streaming.`,
  );
}

const isTaken = (name: string, { additions }: Agent) => additions.commands.some((command) => command.name === name);

/** The first word, if the message begins with a slash, and what follows it. */
function nameIn(message: string): { name: string; args: string } | undefined {
  if (!message.startsWith('/')) return undefined;
  const space = message.search(/\s/);
  const name = message.slice(1, space === -1 ? undefined : space);
  return name === '' ? undefined : { name, args: space === -1 ? '' : message.slice(space + 1) };
}
