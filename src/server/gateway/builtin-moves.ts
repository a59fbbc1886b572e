import { parseBuiltinMove } from '../../protocol/builtin-moves.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { Answer } from '../hosting/answer.ts';
import type { Request } from '../sessions.ts';
import type { Client } from './client.ts';
import { move } from './moves.ts';

/** The move that a message asks for by its built-in name, if it does. */
export function builtinMoveIn(message: string): Request | undefined {
  const move = parseBuiltinMove(message);
  if (!move) return undefined;
  return move.entryId === undefined ? { type: 'new_session' } : { type: 'fork', entryId: move.entryId };
}

/** Moves this client alone, unless somebody has added a command of the same name: then that is run. */
export function builtinMove(
  wanted: Request,
  { prompt, client, answered }: { prompt: Request; client: Client; answered: (answer: Answer) => void },
): Promise<void> {
  return client.alone(async () => {
    if (await isTaken(wanted.type === 'fork' ? 'fork' : 'new', client)) client.handle.send(prompt, answered);
    else await move(wanted, client, (answer) => answered(asOf(prompt, answer)));
  });
}

async function isTaken(name: string, client: Client): Promise<boolean> {
  const request: Request = { type: 'get_commands', builtins: false };
  const answer = await new Promise<Answer>((resolve) => client.handle.send(request, resolve));
  const { commands = [] } = answer.success ? (answer.data() as { commands: SlashCommand[] }) : {};
  return commands.some((command) => command.name === name);
}

const asOf = ({ type }: Request, answer: Answer) =>
  answer.success
    ? Answer.success(type, { disposition: 'handled', output: outputOf(answer) })
    : Answer.of({ ...answer.record(), command: type });

/** In the words of the agent. */
function outputOf(answer: Answer): string {
  const { cancelled, sessionId, text } = answer.data() as { cancelled: boolean; sessionId?: string; text?: string };
  if (cancelled) return 'An extension said no';
  return text === undefined ? `Started the session ${sessionId}` : `Forked before: ${text}`;
}
