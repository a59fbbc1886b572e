import type { Arguments } from './flags.ts';
import { opened } from './lifetime.ts';
import { say } from './say.ts';

/** Prints what a run would send as the system prompt. */
export async function showSystemPrompt(args: Arguments): Promise<number> {
  const engine = await opened(args);
  if (!engine) return 1;
  const prompt = await engine.systemPrompt();
  await engine.close();
  return say(`${prompt}\n`);
}
