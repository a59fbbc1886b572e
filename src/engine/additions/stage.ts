import type { Stage } from '../../extend/dialogs.ts';
import { isDialogMethod } from '../../protocol/dialog-methods.ts';
import type { Agent } from '../agent.ts';
import type { Connection } from '../connection.ts';

/** Shows things through whatever clients are there. */
export function stageOf(agent: Agent): Stage {
  const { clients, env } = agent;
  const emitsTitle = /^\s*(?:1|true|yes|on)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');
  const canSee = ({ capabilities: { ui } }: Connection, method: string) => {
    if (method === 'setTitle') return emitsTitle || ui?.includes(method) === true;
    return ui?.includes(method) ?? true;
  };
  const shows = (client: Connection, method: string) =>
    canSee(client, method) && !(client.isDeaf && isDialogMethod(method));
  return {
    isMute: () => isMute(agent),
    isFinal: () => clients.size > 0 && [...clients].every(({ isLast }) => isLast),
    canShow: (method) => [...clients].some((client) => shows(client, method)),
    show: (request, to) => {
      for (const client of clients) {
        if ((to ?? client) === client && shows(client, request.method)) client.tell(request);
      }
    },
    close: ({ id, method }, by, answerer) => {
      for (const client of clients) {
        if (client !== answerer && canSee(client, method)) client.tell({ type: 'extension_ui_resolved', id, by });
      }
    },
  };
}

/** Whether nobody can be asked: there is no user, or whoever is there shows nothing, or was the last to be heard. */
export function isMute({ clients, mode }: Pick<Agent, 'clients' | 'mode'>): boolean {
  if (mode !== 'rpc') return true;
  return (
    clients.size > 0 &&
    [...clients].every(({ isDeaf, isLast, capabilities: { ui } }) => (isDeaf && isLast) || ui?.length === 0)
  );
}
