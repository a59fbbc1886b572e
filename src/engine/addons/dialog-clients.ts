import type { DialogClients } from '../../extend/dialogs.ts';
import { emitsTitles, receivesUiRequest, showsMethod } from '../../fanout/ui-routing.ts';
import type { Agent } from '../agent.ts';
import type { ClientConnection } from '../client-connection.ts';

/** Shows dialogs and notices through the connected clients. */
export function dialogClients(agent: Agent): DialogClients {
  const { clients, env } = agent;
  const receivesTitles = emitsTitles(env);
  const uiOf = ({ capabilities: { ui }, inputClosed }: ClientConnection) => ({
    ui,
    canAnswerDialogs: !inputClosed,
    receivesTitles,
  });
  const canShow = (client: ClientConnection, method: string) => receivesUiRequest(uiOf(client), method);
  return {
    cannotAnswer: () => cannotAnswer(agent),
    isFinal: () => clients.size > 0 && [...clients].every(({ isLastClient }) => isLastClient),
    canShow: (method) => [...clients].some((client) => canShow(client, method)),
    show: (request, to) => {
      for (const client of clients) {
        if ((to ?? client) === client && canShow(client, request.method)) client.send(request);
      }
    },
    reportUnshown: (id) => {
      if (agent.mode === 'rpc')
        for (const client of clients) client.send({ type: 'extension_ui_resolved', id, by: 'nobody' });
    },
    deadlineMs: () => agent.project.settings.dialogs?.deadlineMs,
    close: ({ id, method }, by, respondent) => {
      for (const client of clients) {
        if (client !== respondent && showsMethod(uiOf(client), method))
          client.send({ type: 'extension_ui_resolved', id, by });
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
