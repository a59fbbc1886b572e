import { Refusal } from '../../protocol/errors.ts';
import type { Accepted } from '../../protocol/generated/vocabulary.ts';
import { parseBuiltinCall, parseSlashCommand } from '../../protocol/slash-commands.ts';
import type { Agent } from '../agent.ts';
import type { CommandContext } from '../dispatch.ts';
import { DeferredResponse } from '../response-data.ts';

interface SlashMessage {
  readonly message: string;
  readonly builtins?: boolean | undefined;
}

type SlashCommandRun = () => Promise<Accepted | DeferredResponse<Accepted>>;

/** Runs the slash command of a message, if it is one. Extension commands do not block other commands. */
export const runSlashCommand = async (message: SlashMessage, context: CommandContext) =>
  (await findSlashCommand(message, context))?.();

/** Finds the slash command of a message; the returned function runs it. */
export async function findSlashCommand(
  { message, builtins }: SlashMessage,
  { agent, connection, signal }: CommandContext,
): Promise<SlashCommandRun | undefined> {
  const parsed = parseSlashCommand(message);
  if (!parsed) return undefined;
  const extensions = agent.addons.loaded?.extensions;
  if (extensions?.hasCommand(parsed.name)) {
    return async () => {
      const finished = extensions.runCommand(parsed.name, parsed.args);
      return new DeferredResponse(finished.then(() => ({ disposition: 'handled' as const })));
    };
  }
  if (!(builtins ?? connection.capabilities.builtins) || isTaken(parsed.name, agent)) return undefined;
  const { findBuiltin } = await import('./builtin-commands.ts');
  const { name, args } = parseBuiltinCall(message) ?? parsed;
  const builtin = findBuiltin(name);
  if (!builtin) return undefined;
  return async () => ({ disposition: 'handled', output: await builtin.run({ agent, args, signal }) });
}

/** Rejects extension commands: they run at once and cannot be queued. */
export function rejectExtensionCommand(message: string, { addons }: Agent): void {
  const parsed = parseSlashCommand(message);
  if (!parsed || !addons.loaded?.extensions?.hasCommand(parsed.name)) return;
  throw new Refusal(
    'invalid_params',
    `Extension command "/${parsed.name}" cannot be queued. Use prompt() or execute the command when not streaming.`,
  );
}

const isTaken = (name: string, { addons }: Agent) =>
  addons.loaded?.commands.some((command) => command.name === name) === true;
