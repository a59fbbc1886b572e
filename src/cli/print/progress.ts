import type { Writable } from 'node:stream';
import type { AgentClient } from '../../client/client.ts';
import { callLine, plainInk } from '../chat/printer.ts';

/** Tells which tools run as they begin. */
export function showCalls(client: AgentClient, paper: Writable): void {
  client.onEvent((event) => {
    if (event.type === 'tool_execution_start') paper.write(`${callLine(event, plainInk)}\n`);
  });
}
