import type { AgentClient } from '../../client/client.ts';
import { ConnectionLost } from '../../client/connection-lost.ts';
import { Dialogs, SHOWN } from './dialogs.ts';
import { Printer, plainInk, terminalInk } from './printer.ts';
import { Terminal } from './terminal.ts';

const SUGGESTIONS = 'Try: list the files · read package.json · run `date` · write notes.txt: hello';

const HELP = `Enter sends. While the agent works, it reads what you send at its next step.
Ctrl-C stops the answer, or takes back what you typed. Ctrl-D leaves; the session is kept.
Lines that are pasted together are one prompt. The up key brings earlier lines back.
What an extension asks is answered by the next line, and called off by Ctrl-C.
? or /help shows this.
${SUGGESTIONS}`;

/** Talks with whoever sits at the terminal until they leave. */
export async function talk(client: AgentClient): Promise<void> {
  const terminal = new Terminal(process.stdin, process.stdout);
  const printer = new Printer(terminal, process.env['NO_COLOR'] ? plainInk : terminalInk);
  let running = false;
  const dialogs = new Dialogs(printer);
  client.onEvent((event) => {
    if (event.type === 'agent_start') running = true;
    if (event.type === 'agent_settled') running = false;
    printer.event(event);
  });
  client.onUiRequest((request, { signal }) => dialogs.show(request, signal));
  terminal.onSent((text) => {
    const message = text.trimEnd();
    if (dialogs.isAsking) dialogs.take(message);
    else if (message === '?' || message === '/help') printer.note(HELP);
    else if (message !== '') void send(client, message, printer);
  });
  terminal.onInterrupt(() => {
    if (dialogs.isAsking) dialogs.cancel();
    else if (running) client.abort().catch(() => {});
    else if (!terminal.isBlank) terminal.clear();
    else printer.note('(Ctrl-D leaves)');
  });
  await client.hello({ ui: SHOWN });
  await greet(client, printer);
  await terminal.closed;
}

async function greet(client: AgentClient, printer: Printer): Promise<void> {
  const { model, modelFallbackMessage, messageCount, sessionName } = await client.getState();
  const name = model ? `${model.provider}/${model.id}` : 'no model';
  printer.note(`tau with ${name}. Ctrl-C stops an answer, Ctrl-D leaves, ? helps.`);
  if (modelFallbackMessage) printer.note(modelFallbackMessage);
  if (messageCount > 0) printer.note(`Going on with ${sessionName ?? 'a conversation'} of ${messageCount} messages.`);
  if (model?.provider === 'tau') printer.note(SUGGESTIONS);
}

async function send(client: AgentClient, message: string, printer: Printer): Promise<void> {
  try {
    const { disposition } = await client.prompt({ message, streamingBehavior: 'steer' });
    if (disposition === 'queued') printer.note('(queued for the next step)');
  } catch (error) {
    if (!(error instanceof ConnectionLost)) printer.failure(error);
  }
}
