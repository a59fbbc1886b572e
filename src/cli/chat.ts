import { AgentClient } from '../client/client.ts';
import { memoryPair } from '../wire/memory.ts';
import { recite } from './chat/recite.ts';
import { talk } from './chat/talk.ts';
import type { Arguments } from './flags.ts';
import { hasTerminal } from './has-terminal.ts';
import { leaveOnSignal, opened } from './lifetime.ts';
import { stdoutReader } from './stdout-reader.ts';

/** A conversation in this terminal; without one, a prompt for each line of the input. */
export async function chat(args: Arguments): Promise<number> {
  const engine = await opened(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  leaveOnSignal(engine, async () => {});
  const client = new AgentClient(outside);
  const reader = stdoutReader();
  const failed = (await Promise.race([hasTerminal() ? talk(client) : recite(client), reader.left])) === false;
  client.close();
  await engine.close('the conversation is over');
  await reader.flushed();
  return failed ? 1 : 0;
}
