import { AgentClient } from '../client/client.ts';
import { memoryPair } from '../wire/memory.ts';
import { recite } from './chat/recite.ts';
import { talk } from './chat/talk.ts';
import type { Arguments } from './flags.ts';
import { leaveOnSignal, opened } from './lifetime.ts';

/** A conversation in this terminal; without one, a prompt for each line of the input. */
export async function chat(args: Arguments): Promise<number> {
  const engine = await opened(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  leaveOnSignal(engine, async () => {});
  const client = new AgentClient(outside);
  // Whoever read this has left, as `head` does: everything stops, without a word.
  const unread = new Promise<void>((resolve) => process.stdout.on('error', () => resolve()));
  const failed =
    (await Promise.race([hasTerminal() ? talk(client) : recite(client, { demo: args.demo !== undefined }), unread])) ===
    false;
  client.close();
  await engine.close('the conversation is over');
  await Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), unread]);
  return failed ? 1 : 0;
}

const hasTerminal = () => process.stdin.isTTY && process.stdout.isTTY && process.env['TERM'] !== 'dumb';
