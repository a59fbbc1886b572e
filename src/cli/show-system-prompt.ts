import type { CliArguments } from './flags.ts';
import { openAgentEngine } from './lifetime.ts';
import { printAndExit } from './print-and-exit.ts';

/** `--print-system-prompt`: prints the system prompt of a run. */
export async function printSystemPrompt(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args);
  if (!engine) return 1;
  const prompt = await engine.systemPrompt();
  await engine.close();
  return printAndExit(`${prompt}\n`);
}
