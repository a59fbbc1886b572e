import type { AgentClient } from '../../client/client.ts';
import type { Printer } from './printer.ts';

/** Dialogs that the agent waits for. */
const WAITING: ReadonlySet<string> = new Set(['select', 'confirm', 'input', 'editor']);

/** Prints what the agent does from now on. Dialogs cannot be held here: each is called off, so that no run waits. */
export function show(client: AgentClient, printer: Printer): void {
  client.onEvent((event) => {
    printer.event(event);
    if (event.type !== 'extension_ui_request' || !WAITING.has(event.method)) return;
    client.send({ type: 'extension_ui_response', id: event.id, cancelled: true });
  });
}
