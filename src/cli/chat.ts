import { AgentClient } from '../client/client.ts';
import { memoryPair } from '../wire/memory.ts';
import { recite, talk } from './chat/talk.ts';
import type { Arguments } from './flags.ts';
import { leave, leaveOnSignal, opened } from './lifetime.ts';

/** A conversation in this terminal. */
export async function chat(args: Arguments): Promise<number> {
  const engine = await opened(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  leaveOnSignal(engine, () => []);
  const client = new AgentClient(outside);
  // Whoever read this has left, as `head` does: everything stops, without a word.
  const unread = new Promise((resolve) => process.stdout.on('error', resolve));
  await Promise.race([process.stdin.isTTY ? talk(client) : recite(client), unread]);
  client.close();
  await leave(engine);
  await Promise.race([new Promise<void>((resolve) => process.stdout.write('', () => resolve())), unread]);
  return 0;
}
