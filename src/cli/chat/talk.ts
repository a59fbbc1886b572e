import type { AgentClient } from '../../client/client.ts';
import { SHOWN } from './dialogs.ts';
import type { Printer } from './printer.ts';
import { Seat, SUGGESTIONS } from './seat.ts';

/** Talks with whoever sits at the terminal until they leave. */
export async function talk(client: AgentClient): Promise<void> {
  const seat = new Seat(client);
  await client.hello({ ui: SHOWN });
  await greet(client, seat.printer);
  await seat.left;
}

async function greet(client: AgentClient, printer: Printer): Promise<void> {
  const { model, modelFallbackMessage, messageCount, sessionName } = await client.getState();
  const name = model ? `${model.provider}/${model.id}` : 'no model';
  printer.note(`tau with ${name}. Ctrl-C stops an answer, Ctrl-D leaves, ? helps.`);
  if (modelFallbackMessage) printer.note(modelFallbackMessage);
  if (messageCount > 0) printer.note(`Going on with ${sessionName ?? 'a conversation'} of ${messageCount} messages.`);
  if (model?.provider === 'tau') printer.note(SUGGESTIONS);
}
