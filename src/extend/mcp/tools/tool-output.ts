import { ToolError, type ToolOutput } from '../../../agent/tool.ts';
import { fitImage } from '../../../agent/tools/read/image.ts';
import { imageTypeOf } from '../../../agent/tools/read/image-header.ts';
import { formatBytes, keepHead, MAX_OUTPUT_BYTES, type Truncation } from '../../../agent/tools/truncate.ts';
import type { ContentBlock, ImageContent } from '../../../protocol/generated/vocabulary.ts';
import { isObject } from '../../../protocol/json.ts';
import { isNestedWithin } from '../../../store/json-file.ts';

/** Further images are replaced by a note. */
export const MAX_RESULT_IMAGES = 10;

// In base64. A longer image is not decoded.
const MAX_RESULT_IMAGE_CHARACTERS = 64 * 1024 * 1024;

/** Larger structured content is dropped: clients receive it and sessions store it. */
export const MAX_STRUCTURED_CHARACTERS = 256 * 1024;

const MAX_STRUCTURE_DEPTH = 50;

type Values = Readonly<Record<string, unknown>>;

/** Converts the result of a tool call; throws `ToolError` if the server reports a failure. */
export async function parseToolResult(result: unknown): Promise<ToolOutput> {
  const { content, structuredContent, isError } = objectFrom(result);
  const structure = usableStructure(structuredContent);
  const blocks = Array.isArray(content) ? content.map(objectFrom) : [];
  const shown = await toContentBlocks(blocks.length > 0 || structure === undefined ? blocks : [asText(structure)]);
  const { blocks: kept, truncation } = truncateText(shown);
  const details = {
    ...(structure === undefined ? {} : { structuredContent: structure }),
    ...(truncation === undefined ? {} : { truncation }),
  };
  const output = { content: kept, ...(Object.keys(details).length > 0 ? { details } : {}) };
  if (isError === true) throw new ToolError(output);
  return output;
}

function usableStructure(value: unknown): unknown {
  if (!isObject(value) || !isNestedWithin(value, MAX_STRUCTURE_DEPTH)) return undefined;
  return JSON.stringify(value).length > MAX_STRUCTURED_CHARACTERS ? undefined : value;
}

const asText = (structure: unknown): Values => ({ type: 'text', text: JSON.stringify(structure, null, 2) });

async function toContentBlocks(blocks: readonly Values[]): Promise<ContentBlock[]> {
  const shown: ContentBlock[] = [];
  let images = 0;
  for (const block of blocks) {
    const image = imageDataIn(block);
    const fits = image === undefined || ++images <= MAX_RESULT_IMAGES;
    if (!fits) shown.push(textBlock('[Image left out: there are too many.]'));
    else shown.push(image === undefined ? textBlock(describeBlock(block)) : await decodeImage(image));
  }
  return shown;
}

// The base64 data of an image or of an image resource.
function imageDataIn({ type, data, resource }: Values): string | undefined {
  if (type === 'image') return stringFrom(data);
  const { blob, mimeType } = objectFrom(resource);
  return type === 'resource' && stringFrom(mimeType).startsWith('image/') ? stringFrom(blob) : undefined;
}

// An image that cannot be decoded would make all later requests fail.
async function decodeImage(data: string): Promise<ImageContent | ContentBlock> {
  if (data.length > MAX_RESULT_IMAGE_CHARACTERS) return textBlock('[Image not shown: it is too large.]');
  const bytes = Buffer.from(data, 'base64');
  const type = imageTypeOf(bytes);
  const image = type ? await fitImage(bytes, type) : 'it cannot be decoded';
  if (typeof image === 'string') return textBlock(`[Image not shown: ${image}.]`);
  return { type: 'image', data: image.bytes.toString('base64'), mimeType: image.mimeType };
}

function describeBlock(block: Values): string {
  switch (block['type']) {
    case 'text':
      return stringFrom(block['text']);
    case 'audio':
      return `[Audio left out: ${stringFrom(block['mimeType']) || 'unknown'}, ${base64Size(block['data'])}]`;
    case 'resource':
      return describeResource(objectFrom(block['resource']));
    case 'resource_link':
      return describeLink(block);
    default:
      return `[Content of an unknown type left out: ${stringFrom(block['type']).slice(0, 100) || 'none'}]`;
  }
}

function describeResource({ uri, mimeType, text: output, blob }: Values): string {
  const decoded = typeof output === 'string' ? output : decodeText(stringFrom(mimeType), blob);
  if (decoded !== undefined) return `[Resource ${stringFrom(uri)}]\n${decoded}`;
  return `[Resource ${stringFrom(uri)} left out: ${stringFrom(mimeType) || 'unknown'}, ${base64Size(blob)}]`;
}

// Some servers send text in base64.
function decodeText(mimeType: string, blob: unknown): string | undefined {
  const isText = /^(?:text\/|application\/(?:json|xml|yaml|javascript)\b|[^;]*\+(?:json|xml)\b)/i.test(mimeType);
  if (!isText || typeof blob !== 'string') return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(blob, 'base64'));
  } catch {
    return undefined;
  }
}

function describeLink({ uri, name, mimeType, description }: Values): string {
  const facts = [name, mimeType, description].map(stringFrom).filter(Boolean).join(', ');
  return `[Resource ${stringFrom(uri)}${facts ? `: ${facts}` : ''}]`;
}

const base64Size = (data: unknown) => formatBytes(Math.floor((stringFrom(data).length * 3) / 4));

// Truncates long text to its head; images follow it.
function truncateText(blocks: readonly ContentBlock[]): { blocks: ContentBlock[]; truncation?: Truncation } {
  const output = blocks.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  const truncation = keepHead(output);
  if (!truncation.truncated) return { blocks: blocks.length > 0 ? [...blocks] : [textBlock('(no output)')] };
  const kept = truncation.firstLineExceedsLimit ? headWithinLimit(output) : truncation.content;
  const note = `[Output cut: these are the first ${formatBytes(Buffer.byteLength(kept))} of ${formatBytes(truncation.totalBytes)}.]`;
  const images = blocks.filter(({ type }) => type === 'image');
  return { blocks: [textBlock(`${kept}\n\n${note}`), ...images], truncation };
}

// Cuts a single long line without splitting a character.
const headWithinLimit = (output: string) =>
  Buffer.from(output)
    .subarray(0, MAX_OUTPUT_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');

const textBlock = (output: string): ContentBlock => ({ type: 'text', text: output });

const stringFrom = (value: unknown): string => (typeof value === 'string' ? value : '');

const objectFrom = (value: unknown): Values => (isObject(value) ? value : {});
