import { parseBuiltinMove } from '../../protocol/builtin-moves.ts';
import type { SlashCommand } from '../../protocol/generated/vocabulary.ts';
import { AgentResponse } from '../agent-response.ts';
import type { CommandRequest } from '../sessions.ts';
import type { Client } from './client.ts';
import { moveClient } from './session-moves.ts';

/** The move that a message requests by its built-in slash command, if any. */
export function builtinMoveIn(message: string): CommandRequest | undefined {
  const move = parseBuiltinMove(message);
  if (!move) return undefined;
  return move.entryId === undefined ? { type: 'new_session' } : { type: 'fork', entryId: move.entryId };
}

/** Moves this client alone, unless an extension registered a command of the same name: that one runs instead. */
export function runBuiltinMove(
  requested: CommandRequest,
  { prompt, client, onResponse }: { prompt: CommandRequest; client: Client; onResponse: (response: AgentResponse) => void },
): Promise<void> {
  return client.exclusively(async () => {
    if (await isExtensionCommand(requested.type === 'fork' ? 'fork' : 'new', client)) client.handle.send(prompt, onResponse);
    else await moveClient(requested, client, (response) => onResponse(asPromptResponse(prompt, response)));
  });
}

async function isExtensionCommand(name: string, client: Client): Promise<boolean> {
  const request: CommandRequest = { type: 'get_commands', builtins: false };
  const response = await new Promise<AgentResponse>((resolve) => client.handle.send(request, resolve));
  const { commands = [] } = response.success ? (response.data() as { commands: SlashCommand[] }) : {};
  return commands.some((command) => command.name === name);
}

const asPromptResponse = ({ type }: CommandRequest, response: AgentResponse) =>
  response.success
    ? AgentResponse.success(type, { disposition: 'handled', output: moveOutput(response) })
    : AgentResponse.from({ ...response.record(), command: type });

/** The same texts as the agent prints. */
function moveOutput(response: AgentResponse): string {
  const { cancelled, sessionId, text } = response.data() as { cancelled: boolean; sessionId?: string; text?: string };
  if (cancelled) return 'An extension said no';
  return text === undefined ? `Started the session ${sessionId}` : `Forked before: ${text}`;
}
