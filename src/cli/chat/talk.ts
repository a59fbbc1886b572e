import { createInterface } from 'node:readline';
import type { AgentClient } from '../../client/client.ts';
import { ConnectionLost } from '../../client/connection-lost.ts';
import { Printer, plainInk, terminalInk } from './printer.ts';

/** What is asked when nobody is there to ask anything. */
const DEMONSTRATION = 'list the files';

const SUGGESTIONS = 'Try: list the files · read package.json · run `date` · write notes.txt: hello';

/** Talks with whoever sits at the terminal until they leave. */
export async function talk(client: AgentClient): Promise<void> {
  const printer = new Printer((text) => process.stdout.write(text), process.env['NO_COLOR'] ? plainInk : terminalInk);
  const { model, modelFallbackMessage } = await client.getState();
  printer.line(
    `tau with ${model ? `${model.provider}/${model.id}` : 'no model'}. Ctrl-C stops an answer, Ctrl-D leaves.`,
  );
  if (modelFallbackMessage) printer.line(modelFallbackMessage);
  if (model?.provider === 'tau') printer.line(SUGGESTIONS);
  const input = createInterface({ input: process.stdin, output: process.stdout, prompt: '› ' });
  let running = false;
  client.onEvent((event) => {
    if (event.type === 'agent_start') running = true;
    printer.event(event);
    if (event.type !== 'agent_settled') return;
    running = false;
    input.prompt();
  });
  input.on('line', (line) => {
    if (line.trim() === '') return input.prompt();
    client.prompt({ message: line, streamingBehavior: 'steer' }).catch((error: Error) => {
      if (error instanceof ConnectionLost) return;
      printer.line(error.message);
      input.prompt();
    });
  });
  input.on('SIGINT', () => {
    if (running) client.abort().catch(() => {});
    else {
      printer.line('(Ctrl-D leaves)');
      input.prompt();
    }
  });
  input.prompt();
  await new Promise<void>((resolve) => input.once('close', resolve));
  process.stdout.write('\n');
}

/** Without a terminal: each line of the input is a prompt; without input, one prompt shows what the agent does. */
export async function recite(client: AgentClient): Promise<void> {
  const printer = new Printer((text) => process.stdout.write(text), plainInk);
  client.onEvent((event) => printer.event(event));
  const lines = (await everything(process.stdin)).split('\n').filter((line) => line.trim() !== '');
  for (const message of lines.length > 0 ? lines : [DEMONSTRATION]) {
    printer.line(`› ${message}`);
    await client.promptAndWait(message).catch((error: Error) => printer.line(error.message));
  }
}

async function everything(input: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
