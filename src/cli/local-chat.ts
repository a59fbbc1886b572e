import { AgentClient } from '../client/agent-client.ts';
import { memoryPair } from '../wire/memory.ts';
import { requestChatApprovals } from './chat/approval-commands.ts';
import { runBatch } from './chat/batch.ts';
import { CHAT_UI_METHODS } from './chat/dialogs.ts';
import { SUGGESTIONS, TerminalUi } from './chat/terminal-ui.ts';
import type { CliArguments } from './flags/flags.ts';
import { closeOnSignal, openAgentEngine } from './lifetime.ts';
import { hasTerminal, watchStdoutReader } from './stdio.ts';

/** `tau chat`: a conversation in this terminal; without one, each line of stdin is a prompt, as for other programs. */
export async function chat(args: CliArguments): Promise<number> {
  const engine = await openAgentEngine(args, { stream: 'delta' });
  if (!engine) return 1;
  const [inside, outside] = memoryPair();
  engine.connect(inside);
  closeOnSignal(engine, async () => {});
  const client = new AgentClient(outside);
  const reader = watchStdoutReader();
  const isNew = engine.agent.state.messageCount === 0;
  // A flag or a setting may have chosen the mode.
  const isChosen = engine.agent.approvals.session.isModeChosen;
  const talk = () => runChat(client, isNew && !isChosen ? requestChatApprovals(client) : Promise.resolve());
  const failed = (await Promise.race([hasTerminal() ? talk() : runBatch(client), reader.done])) === false;
  client.close();
  await engine.close('the conversation is over');
  await reader.flushed();
  return failed ? 1 : 0;
}

/** Runs the chat with an agent in this process until the user leaves. Returns false if the sandbox does not work. */
async function runChat(client: AgentClient, ready: Promise<void>): Promise<boolean> {
  const ui = new TerminalUi(client, { ready });
  try {
    await Promise.all([client.hello({ ui: CHAT_UI_METHODS }), ready]);
  } catch (error) {
    ui.printer.failure(error);
    ui.close();
    return false;
  }
  await printGreeting(client, ui);
  await ui.closed;
  return true;
}

async function printGreeting(client: AgentClient, ui: TerminalUi): Promise<void> {
  const { printer } = ui;
  const state = await client.getState();
  const { model, modelFallbackMessage, messageCount, sessionName } = state;
  const name = model ? `${model.provider}/${model.id}` : 'no model';
  printer.note(`tau with ${name}. Ctrl-C stops an answer, Ctrl-D exits, ? prints help.`);
  if (modelFallbackMessage) printer.note(modelFallbackMessage);
  ui.showApprovalMode(state);
  if (messageCount > 0) printer.note(`Continuing ${sessionName ?? 'a session'} of ${messageCount} messages.`);
  if (model?.provider === 'tau') printer.note(SUGGESTIONS);
}
