import { createReadStream } from 'node:fs';
import { imageTypeOf } from '../../agent/tools/read/image-header.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { ImageContent } from '../../protocol/generated/vocabulary.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import type { Prompt } from './run-prompt.ts';

/** The limit of piped and attached input; escaped, it still fits into one protocol line. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024;

// A file in a prompt: its text with its name, or an image.
interface Attachment {
  readonly text: string;
  readonly image?: ImageContent;
}

/** Reads trimmed text from stdin; empty on a terminal. */
export async function readPipedText(): Promise<string> {
  if (process.stdin.isTTY) return '';
  return decodeText(await readBytes(process.stdin, 'stdin'), 'stdin').trim();
}

/** Reads a file given as `@path`. */
export async function readAttachment(path: string): Promise<Attachment> {
  if (path === '') throw new UsageError('@ requires the name of a file');
  const bytes = await readBytes(createReadStream(expandHome(path)), `@${path}`);
  const name = path.replaceAll('"', '&quot;');
  const mimeType = imageTypeOf(bytes);
  // Models do not accept bitmaps.
  if (mimeType === undefined || mimeType === 'image/bmp')
    return { text: `<file name="${name}">\n${withFinalNewline(decodeText(bytes, `@${path}`))}</file>` };
  return { text: `<image name="${name}"/>`, image: { type: 'image', data: bytes.toString('base64'), mimeType } };
}

const withFinalNewline = (text: string) => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

async function readBytes(source: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of source) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) break;
    }
  } catch (error) {
    throw new UsageError(`${name}: ${reasonOf(error)}`);
  }
  if (size > MAX_INPUT_BYTES) throw new UsageError(`${name} is longer than ${MAX_INPUT_BYTES / 1024 / 1024} MiB`);
  return Buffer.concat(chunks);
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return 'there is no such file';
  return code === 'EISDIR' ? 'it is a folder' : messageOf(error);
}

function decodeText(bytes: Buffer, name: string): string {
  try {
    if (!bytes.includes(0)) return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    // Invalid UTF-8 is not text.
  }
  throw new UsageError(`${name} is neither text nor an image`);
}

/** The prompts of the command line; piped text and files precede the first. */
export async function promptsOf(args: CliArguments): Promise<Prompt[]> {
  const files = [];
  for (const path of args.files) files.push(await readAttachment(path));
  const piped = await readPipedText();
  const [first = '', ...others] = args.positionals.filter((text) => text.trim() !== '');
  const message = [piped, ...files.map(({ text }) => text), first].filter((text) => text !== '').join('\n\n');
  const images = files.flatMap(({ image }) => image ?? []);
  if (message === '') throw new UsageError('No prompt: give one, or use tau chat or tau --mode rpc');
  checkSize([message, ...images.map(({ data }) => data)]);
  return [{ message, images }, ...others.map((text) => ({ message: text, images: [] }))];
}

function checkSize(parts: readonly string[]): void {
  const size = parts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  if (size > MAX_INPUT_BYTES) throw new UsageError('Piped input and files are too long together');
}
