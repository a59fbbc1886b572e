import { AgentClient } from '../../client/agent-client.ts';
import type { Engine } from '../../engine/open.ts';
import { memoryPair } from '../../wire/memory.ts';

/** The header of the agent's session: what a client is told first that follows its entries. */
export async function headerOf(engine: Engine): Promise<object> {
  const [inside, outside] = memoryPair();
  const client = new AgentClient(outside);
  const header = new Promise<object>((resolve) =>
    client.onEvent((event) => {
      if (event.type === 'entry_appended') resolve(event.entry);
    }),
  );
  engine.connect(inside);
  await client.hello({ entries: true });
  client.close();
  return header;
}
