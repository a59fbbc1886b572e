import type { AgentClient } from '../../client/client.ts';
import { callOffDialogs } from './dialogs.ts';
import type { Printer } from './printer.ts';

/** Prints what the agent does from now on. Dialogs cannot be held here. */
export function show(client: AgentClient, printer: Printer): void {
  client.onEvent((event) => printer.event(event));
  callOffDialogs(client);
}
