import type { AgentClient } from '../../client/agent-client.ts';
import { CHAT_UI_METHODS } from './dialogs.ts';
import type { Printer } from './printer.ts';
import { TerminalUi, SUGGESTIONS } from './terminal-ui.ts';

/** Runs the chat with an agent in this process until the user leaves. */
export async function runChat(client: AgentClient): Promise<void> {
  const ui = new TerminalUi(client);
  await client.hello({ ui: CHAT_UI_METHODS });
  await printGreeting(client, ui.printer);
  await ui.closed;
}

async function printGreeting(client: AgentClient, printer: Printer): Promise<void> {
  const { model, modelFallbackMessage, messageCount, sessionName } = await client.getState();
  const name = model ? `${model.provider}/${model.id}` : 'no model';
  printer.note(`tau with ${name}. Ctrl-C stops an answer, Ctrl-D leaves, ? helps.`);
  if (modelFallbackMessage) printer.note(modelFallbackMessage);
  if (messageCount > 0) printer.note(`Going on with ${sessionName ?? 'a conversation'} of ${messageCount} messages.`);
  if (model?.provider === 'tau') printer.note(SUGGESTIONS);
}
