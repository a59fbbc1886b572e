import { AgentClient } from '../client/agent-client.ts';
import { memoryPair } from '../wire/memory.ts';
import { runBatch } from './chat/batch.ts';
import { CHAT_UI_METHODS } from './chat/dialogs.ts';
import type { Printer } from './chat/printer.ts';
import { SUGGESTIONS, TerminalUi } from './chat/terminal-ui.ts';
import type { CliArguments } from './flags/flags.ts';
import { closeOnSignal, openAgentEngine } from './lifetime.ts';
import { hasTerminal, watchStdoutReader } from './stdio.ts';

/** `tau chat`: a conversation in this terminal; without one, each line of stdin is a prompt. */
export async function chat(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  closeOnSignal(engine, async () => {});
  const client = new AgentClient(outside);
  const reader = watchStdoutReader();
  const failed = (await Promise.race([hasTerminal() ? runChat(client) : runBatch(client), reader.done])) === false;
  client.close();
  await engine.close('the conversation is over');
  await reader.flushed();
  return failed ? 1 : 0;
}

/** Runs the chat with an agent in this process until the user leaves. */
async function runChat(client: AgentClient): Promise<void> {
  const ui = new TerminalUi(client);
  await client.hello({ ui: CHAT_UI_METHODS });
  await printGreeting(client, ui.printer);
  await ui.closed;
}

async function printGreeting(client: AgentClient, printer: Printer): Promise<void> {
  const { model, modelFallbackMessage, messageCount, sessionName } = await client.getState();
  const name = model ? `${model.provider}/${model.id}` : 'no model';
  printer.note(`tau with ${name}. Ctrl-C stops an answer, Ctrl-D exits, ? prints help.`);
  if (modelFallbackMessage) printer.note(modelFallbackMessage);
  if (messageCount > 0) printer.note(`Continuing ${sessionName ?? 'a session'} of ${messageCount} messages.`);
  if (model?.provider === 'tau') printer.note(SUGGESTIONS);
}
