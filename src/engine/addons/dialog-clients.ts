import type { DialogClients } from '../../extend/dialogs.ts';
import { isDialogMethod } from '../../protocol/dialog-methods.ts';
import type { Agent } from '../agent.ts';
import type { ClientConnection } from '../client-connection.ts';

/** Shows dialogs and notices through the connected clients. */
export function dialogClients(agent: Agent): DialogClients {
  const { clients, env } = agent;
  const emitsTitle = /^\s*(?:1|true|yes|on)\s*$/i.test(env['PI_RPC_EMIT_TITLE'] ?? '');
  const supports = ({ capabilities: { ui } }: ClientConnection, method: string) => {
    if (method === 'setTitle') return emitsTitle || ui?.includes(method) === true;
    return ui?.includes(method) ?? true;
  };
  const canShow = (client: ClientConnection, method: string) =>
    supports(client, method) && !(client.inputClosed && isDialogMethod(method));
  return {
    cannotAnswer: () => cannotAnswer(agent),
    isFinal: () => clients.size > 0 && [...clients].every(({ isLastClient }) => isLastClient),
    canShow: (method) => [...clients].some((client) => canShow(client, method)),
    show: (request, to) => {
      for (const client of clients) {
        if ((to ?? client) === client && canShow(client, request.method)) client.send(request);
      }
    },
    close: ({ id, method }, by, respondent) => {
      for (const client of clients) {
        if (client !== respondent && supports(client, method)) client.send({ type: 'extension_ui_resolved', id, by });
      }
    },
  };
}

/** Whether no client will ever answer a dialog: no user, no dialog support, or the last client's input is closed. */
export function cannotAnswer({ clients, mode }: Pick<Agent, 'clients' | 'mode'>): boolean {
  if (mode !== 'rpc') return true;
  return (
    clients.size > 0 &&
    [...clients].every(
      ({ inputClosed, isLastClient, capabilities: { ui } }) => (inputClosed && isLastClient) || ui?.length === 0,
    )
  );
}
