import type { AgentClient } from '../../client/client.ts';

/** Dialogs that the agent waits for. */
const WAITING: ReadonlySet<string> = new Set(['select', 'confirm', 'input', 'editor']);

/** Calls off every dialog from now on, so that no run waits for an answer that nobody can give. */
export function callOffDialogs(client: AgentClient): void {
  client.onEvent((event) => {
    if (event.type !== 'extension_ui_request' || !WAITING.has(event.method)) return;
    client.send({ type: 'extension_ui_response', id: event.id, cancelled: true });
  });
}
