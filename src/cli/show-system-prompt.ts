import type { CliArguments } from './flags.ts';
import { openAgentEngine } from './lifetime.ts';
import { printAndExit } from './print-and-exit.ts';

/** Prints what a run would send as the system prompt. */
export async function printSystemPrompt(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args);
  if (!engine) return 1;
  const prompt = await engine.systemPrompt();
  await engine.close();
  return printAndExit(`${prompt}\n`);
}
