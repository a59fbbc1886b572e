import { AgentClient } from '../../client/agent-client.ts';
import type { Engine } from '../../engine/open.ts';
import { memoryPair } from '../../wire/memory.ts';

/** The session header, which an agent sends first to a client that follows entries. */
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
