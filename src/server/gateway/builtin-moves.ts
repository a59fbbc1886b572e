import type { Params, SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { Answer } from '../hosting/answer.ts';
import type { Request } from '../sessions.ts';
import type { Client } from './client.ts';
import { move } from './moves.ts';

/** The built-in slash commands that go to another session, with what they say. */
const MOVES = /^\/(new|fork[ \t]+(\S+))\s*$/;

/**
 * Does what `/new` and `/fork <entry>` ask for, but for this client alone. Answers whether the prompt was one of those:
 * commands of the same name that somebody has added come first.
 */
export async function builtinMove(
  { message }: Params<'prompt'>,
  client: Client,
  answered: (answer: Answer) => void,
): Promise<boolean> {
  const [, name = '', entryId] = MOVES.exec(message) ?? [];
  if (name === '' || (await isTaken(entryId === undefined ? 'new' : 'fork', client))) return false;
  const request: Request = entryId === undefined ? { type: 'new_session' } : { type: 'fork', entryId };
  await move(request, client, (answer) => answered(answer.success ? done(answer) : refused(answer)));
  return true;
}

async function isTaken(name: string, client: Client): Promise<boolean> {
  const request: Request = { type: 'get_commands', builtins: false };
  const answer = await new Promise<Answer>((resolve) => client.handle.send(request, resolve));
  const { commands = [] } = answer.success ? (answer.data() as { commands: SlashCommand[] }) : {};
  return commands.some((command) => command.name === name);
}

function done(answer: Answer): Answer {
  const { cancelled, sessionId } = answer.data() as { cancelled: boolean; sessionId?: string };
  const output = cancelled ? 'An extension said no' : `Started the session ${sessionId}`;
  return Answer.success('prompt', { disposition: 'handled', output });
}

const refused = (answer: Answer) => Answer.of({ ...answer.record(), command: 'prompt' });
