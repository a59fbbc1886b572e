import type { BaseClient } from '../../client/base-client.ts';
import { Printer, plainInk } from './printer.ts';

/** Runs each line of stdin as a prompt, one after another. Returns whether all succeeded. */
export async function runBatch(client: BaseClient): Promise<boolean> {
  const printer = new Printer(stdoutPaper(), plainInk);
  client.onEvent((event) => printer.event(event));
  // Dialogs resolve with their defaults.
  await client.hello({ ui: [] });
  const run = async (message: string) => {
    printer.note(`› ${message}`);
    try {
      return (await client.promptAndWait(message)).settled?.outcome === 'ok';
    } catch (error) {
      printer.failure(error);
      return false;
    }
  };
  const outcomes: boolean[] = [];
  for await (const line of linesOf(process.stdin)) if (line.trim() !== '') outcomes.push(await run(line.trimEnd()));
  return outcomes.every(Boolean);
}

const stdoutPaper = () => ({
  atLineStart: true,
  print(text: string) {
    process.stdout.write(text);
    this.atLineStart = text.endsWith('\n');
  },
});

async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of input) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  yield rest + decoder.decode();
}
