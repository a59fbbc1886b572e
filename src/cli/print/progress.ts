import type { Writable } from 'node:stream';
import type { AgentClient } from '../../client/agent-client.ts';
import { callLine, plainInk } from '../chat/printer.ts';

/** Prints each tool call as it starts. */
export function printToolCalls(client: AgentClient, output: Writable): void {
  client.onEvent((event) => {
    if (event.type === 'tool_execution_start') output.write(`${callLine(event, plainInk)}\n`);
  });
}
