import type { Writable } from 'node:stream';
import { AgentClient } from '../../client/agent-client.ts';
import type { Engine } from '../../engine/open.ts';
import type { Stdout } from '../../system/stdout/private-stdout.ts';
import { toLine } from '../../wire/json-lines.ts';
import type { Link } from '../../wire/link.ts';
import { memoryPair } from '../../wire/memory.ts';
import { callLine, plainInk } from '../chat/printer.ts';

/** Prints every event as a JSON line, as fast as stdout is read; the returned function waits for the writes. */
export function printEvents(client: AgentClient, link: Link, stdout: Stdout): () => Promise<void> {
  let isPaused = false;
  client.onEvent((event) => {
    if (event.type === 'ready' || stdout.write(toLine(event))) return;
    isPaused = true;
    link.pause();
  });
  stdout.onDrain(() => {
    isPaused = false;
    link.resume();
  });
  return async () => {
    do await stdout.flush();
    while (isPaused);
  };
}

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

/** Prints each tool call as it starts. */
export function printToolCalls(client: AgentClient, output: Writable): void {
  client.onEvent((event) => {
    if (event.type === 'tool_execution_start') output.write(`${callLine(event, plainInk)}\n`);
  });
}
