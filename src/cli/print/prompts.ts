import type { CliArguments } from '../flags.ts';
import { UsageError } from '../flags.ts';
import type { Prompt } from './run-prompt.ts';
import { readAttachment, MAX_INPUT_BYTES, readPipedText } from './input.ts';

/** The prompts of the command line; piped text and files precede the first. */
export async function promptsOf(args: CliArguments): Promise<Prompt[]> {
  const files = [];
  for (const path of args.files) files.push(await readAttachment(path));
  const piped = await readPipedText();
  const [first = '', ...others] = args.positionals.filter((text) => text.trim() !== '');
  const message = [piped, ...files.map(({ text }) => text), first].filter((text) => text !== '').join('\n\n');
  const images = files.flatMap(({ image }) => image ?? []);
  if (message === '') throw new UsageError('Nothing is asked: give a prompt, or say tau chat or tau --mode rpc');
  checkSize([message, ...images.map(({ data }) => data)]);
  return [{ message, images }, ...others.map((text) => ({ message: text, images: [] }))];
}

function checkSize(parts: readonly string[]): void {
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (size > MAX_INPUT_BYTES) throw new UsageError('What is piped in and the files are too long together');
}
