import type { Stage } from '../../extend/dialogs.ts';
import type { Agent } from '../agent.ts';
import type { Connection } from '../connection.ts';

/** Shows things through whatever clients are there. */
export function stageOf({ clients, env }: Agent): Stage {
  const emitsTitle = /^\s*(?:1|true|yes|on)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');
  const shows = ({ capabilities: { ui }, isDeaf }: Connection, method: string) => {
    if (isDeaf && WAITING.has(method)) return false;
    return ui?.includes(method) ?? (method !== 'setTitle' || emitsTitle);
  };
  return {
    canShow: (method) => [...clients].some((client) => shows(client, method)),
    isMute: () =>
      clients.size > 0 && [...clients].every(({ isDeaf, capabilities: { ui } }) => isDeaf || ui?.length === 0),
    show: (request, to) => {
      for (const client of clients) {
        if ((to ?? client) === client && shows(client, request.method)) client.tell(request);
      }
    },
    close: (id, by, answerer) => {
      for (const client of clients) {
        if (client !== answerer) client.tell({ type: 'extension_ui_resolved', id, by });
      }
    },
  };
}

/** What needs an answer. */
const WAITING: ReadonlySet<string> = new Set(['select', 'confirm', 'input', 'editor']);
