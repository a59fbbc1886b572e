import { AgentClient } from '../client/agent-client.ts';
import { memoryPair } from '../wire/memory.ts';
import { runBatch } from './chat/batch.ts';
import { runChat } from './chat/local-chat.ts';
import type { CliArguments } from './flags.ts';
import { hasTerminal } from './has-terminal.ts';
import { closeOnSignal, openAgentEngine } from './lifetime.ts';
import { watchStdoutReader } from './stdout-reader.ts';

/** `tau chat`: a conversation in this terminal; without one, each line of stdin is a prompt. */
export async function chat(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  closeOnSignal(engine, async () => {});
  const client = new AgentClient(outside);
  const reader = watchStdoutReader();
  const failed = (await Promise.race([hasTerminal() ? runChat(client) : runBatch(client), reader.done])) === false;
  client.close();
  await engine.close('the conversation is over');
  await reader.flushed();
  return failed ? 1 : 0;
}
