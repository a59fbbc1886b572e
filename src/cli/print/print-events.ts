import type { AgentClient } from '../../client/agent-client.ts';
import type { Stdout } from '../../system/stdout/private-stdout.ts';
import { toLine } from '../../wire/json-lines.ts';
import type { Link } from '../../wire/link.ts';

/**
 * Writes every event from now on down as a line, no faster than lines are read. The function that is returned settles
 * when everything is out that has come over the link.
 */
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
