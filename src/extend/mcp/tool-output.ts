import { ToolError, type ToolOutput } from '../../agent/tool.ts';
import { fitImage } from '../../agent/tools/image-fit.ts';
import { imageTypeOf } from '../../agent/tools/image-header.ts';
import { keepHead, MAX_OUTPUT_BYTES, formatBytes, type Truncation } from '../../agent/tools/truncate.ts';
import type { ContentBlock, ImageContent } from '../../protocol/generated/vocabulary.ts';
import { isNestedWithin, isObject } from '../../store/json-file.ts';

/** Images beyond this number are told of, not shown. */
export const MAX_IMAGES = 10;

/** In base64. A longer one is not even decoded. */
const MAX_IMAGE_CHARACTERS = 64 * 1024 * 1024;

/** Structured content beyond this is not kept beside the text: clients are sent it, and sessions store it. */
export const MAX_STRUCTURED_CHARACTERS = 256 * 1024;

const MAX_DEPTH = 50;

type Values = Readonly<Record<string, unknown>>;

/** What a server answered to a call, as a tool shows it; throws `ToolError` where the server says that it failed. */
export async function outputFrom(result: unknown): Promise<ToolOutput> {
  const { content, structuredContent, isError } = objectFrom(result);
  const structure = structureFrom(structuredContent);
  const blocks = Array.isArray(content) ? content.map(objectFrom) : [];
  const shown = await shownFrom(blocks.length > 0 || structure === undefined ? blocks : [asText(structure)]);
  const { blocks: kept, truncation } = cut(shown);
  const details = {
    ...(structure === undefined ? {} : { structuredContent: structure }),
    ...(truncation === undefined ? {} : { truncation }),
  };
  const output = { content: kept, ...(Object.keys(details).length > 0 ? { details } : {}) };
  if (isError === true) throw new ToolError(output);
  return output;
}

function structureFrom(value: unknown): unknown {
  if (!isObject(value) || !isNestedWithin(value, MAX_DEPTH)) return undefined;
  return JSON.stringify(value).length > MAX_STRUCTURED_CHARACTERS ? undefined : value;
}

const asText = (structure: unknown): Values => ({ type: 'text', text: JSON.stringify(structure, null, 2) });

async function shownFrom(blocks: readonly Values[]): Promise<ContentBlock[]> {
  const shown: ContentBlock[] = [];
  let images = 0;
  for (const block of blocks) {
    const image = imageIn(block);
    const fits = image === undefined || ++images <= MAX_IMAGES;
    if (!fits) shown.push(text('[Image left out: there are too many.]'));
    else shown.push(image === undefined ? text(wordsOf(block)) : await imageFrom(image));
  }
  return shown;
}

/** The base64 of an image, however it is wrapped. */
function imageIn({ type, data, resource }: Values): string | undefined {
  if (type === 'image') return wordFrom(data);
  const { blob, mimeType } = objectFrom(resource);
  return type === 'resource' && wordFrom(mimeType).startsWith('image/') ? wordFrom(blob) : undefined;
}

/** An image as a model can see it. One that cannot be decoded would make every request from now on fail. */
async function imageFrom(data: string): Promise<ImageContent | ContentBlock> {
  if (data.length > MAX_IMAGE_CHARACTERS) return text('[Image not shown: it is too large.]');
  const bytes = Buffer.from(data, 'base64');
  const type = imageTypeOf(bytes);
  const image = type ? await fitImage(bytes, type) : 'it cannot be decoded';
  if (typeof image === 'string') return text(`[Image not shown: ${image}.]`);
  return { type: 'image', data: image.bytes.toString('base64'), mimeType: image.mimeType };
}

function wordsOf(block: Values): string {
  switch (block['type']) {
    case 'text':
      return wordFrom(block['text']);
    case 'audio':
      return `[Audio left out: ${wordFrom(block['mimeType']) || 'unknown'}, ${weight(block['data'])}]`;
    case 'resource':
      return resourceWords(objectFrom(block['resource']));
    case 'resource_link':
      return linkWords(block);
    default:
      return `[Content of an unknown type left out: ${wordFrom(block['type']).slice(0, 100) || 'none'}]`;
  }
}

function resourceWords({ uri, mimeType, text: words, blob }: Values): string {
  if (typeof words === 'string') return `[Resource ${wordFrom(uri)}]\n${words}`;
  return `[Resource ${wordFrom(uri)} left out: ${wordFrom(mimeType) || 'unknown'}, ${weight(blob)}]`;
}

function linkWords({ uri, name, mimeType, description }: Values): string {
  const facts = [name, mimeType, description].map(wordFrom).filter(Boolean).join(', ');
  return `[Resource ${wordFrom(uri)}${facts ? `: ${facts}` : ''}]`;
}

/** How much there is behind base64. */
const weight = (data: unknown) => formatBytes(Math.floor((wordFrom(data).length * 3) / 4));

/** Keeps the beginning of what is too long to be shown as a whole; images stay, behind it. */
function cut(blocks: readonly ContentBlock[]): { blocks: ContentBlock[]; truncation?: Truncation } {
  const words = blocks.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  const truncation = keepHead(words);
  if (!truncation.truncated) return { blocks: blocks.length > 0 ? [...blocks] : [text('(no output)')] };
  const kept = truncation.firstLineExceedsLimit ? beginning(words) : truncation.content;
  const note = `[Output cut: these are the first ${formatBytes(Buffer.byteLength(kept))} of ${formatBytes(truncation.totalBytes)}.]`;
  const images = blocks.filter(({ type }) => type === 'image');
  return { blocks: [text(`${kept}\n\n${note}`), ...images], truncation };
}

/** A line that is too long alone, up to half a character. */
const beginning = (words: string) =>
  Buffer.from(words)
    .subarray(0, MAX_OUTPUT_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');

const text = (words: string): ContentBlock => ({ type: 'text', text: words });

const wordFrom = (value: unknown): string => (typeof value === 'string' ? value : '');

const objectFrom = (value: unknown): Values => (isObject(value) ? value : {});
