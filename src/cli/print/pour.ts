import type { AgentClient } from '../../client/client.ts';
import type { Stdout } from '../../system/stdout/private-stdout.ts';
import { toLine } from '../../wire/json-lines.ts';
import type { Link } from '../../wire/link.ts';

/**
 * Writes every event from now on down as a line, no faster than lines are read. The function that is returned settles
 * when everything is out that has come over the link.
 */
export function pour(client: AgentClient, link: Link, stdout: Stdout): () => Promise<void> {
  let isBehind = false;
  client.onEvent((event) => {
    if (event.type === 'ready' || stdout.write(toLine(event))) return;
    isBehind = true;
    link.pause();
  });
  stdout.onDrain(() => {
    isBehind = false;
    link.resume();
  });
  return async () => {
    do await stdout.flush();
    while (isBehind);
  };
}
