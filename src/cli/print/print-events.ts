import type { AgentClient } from '../../client/agent-client.ts';
import type { Stdout } from '../../system/stdout/private-stdout.ts';
import { toLine } from '../../wire/json-lines.ts';
import type { Link } from '../../wire/link.ts';

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
