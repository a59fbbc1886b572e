import { ToolError, type ToolOutput } from '../../agent/tool.ts';
import { fitImage } from '../../agent/tools/image-fit.ts';
import { imageTypeOf } from '../../agent/tools/image-header.ts';
import { keepHead, MAX_OUTPUT_BYTES, formatBytes, type Truncation } from '../../agent/tools/truncate.ts';
import type { ContentBlock, ImageContent } from '../../protocol/generated/vocabulary.ts';
import { isNestedWithin, isObject } from '../../store/json-file.ts';

/** Images beyond this number are told of, not shown. */
export const MAX_RESULT_IMAGES = 10;

/** In base64. A longer one is not even decoded. */
const MAX_RESULT_IMAGE_CHARACTERS = 64 * 1024 * 1024;

/** Structured content beyond this is not kept beside the text: clients are sent it, and sessions store it. */
export const MAX_STRUCTURED_CHARACTERS = 256 * 1024;

const MAX_STRUCTURE_DEPTH = 50;

type Values = Readonly<Record<string, unknown>>;

/** What a server answered to a call, as a tool shows it; throws `ToolError` where the server says that it failed. */
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

/** The base64 of an image, however it is wrapped. */
function imageDataIn({ type, data, resource }: Values): string | undefined {
  if (type === 'image') return stringFrom(data);
  const { blob, mimeType } = objectFrom(resource);
  return type === 'resource' && stringFrom(mimeType).startsWith('image/') ? stringFrom(blob) : undefined;
}

/** An image as a model can see it. One that cannot be decoded would make every request from now on fail. */
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
  if (typeof output === 'string') return `[Resource ${stringFrom(uri)}]\n${output}`;
  return `[Resource ${stringFrom(uri)} left out: ${stringFrom(mimeType) || 'unknown'}, ${base64Size(blob)}]`;
}

function describeLink({ uri, name, mimeType, description }: Values): string {
  const facts = [name, mimeType, description].map(stringFrom).filter(Boolean).join(', ');
  return `[Resource ${stringFrom(uri)}${facts ? `: ${facts}` : ''}]`;
}

/** How much there is behind base64. */
const base64Size = (data: unknown) => formatBytes(Math.floor((stringFrom(data).length * 3) / 4));

/** Keeps the beginning of what is too long to be shown as a whole; images stay, behind it. */
function truncateText(blocks: readonly ContentBlock[]): { blocks: ContentBlock[]; truncation?: Truncation } {
  const output = blocks.flatMap((block) => (block.type === 'text' ? block.text : [])).join('\n');
  const truncation = keepHead(output);
  if (!truncation.truncated) return { blocks: blocks.length > 0 ? [...blocks] : [textBlock('(no output)')] };
  const kept = truncation.firstLineExceedsLimit ? headWithinLimit(output) : truncation.content;
  const note = `[Output cut: these are the first ${formatBytes(Buffer.byteLength(kept))} of ${formatBytes(truncation.totalBytes)}.]`;
  const images = blocks.filter(({ type }) => type === 'image');
  return { blocks: [textBlock(`${kept}\n\n${note}`), ...images], truncation };
}

/** A line that is too long alone, up to half a character. */
const headWithinLimit = (output: string) =>
  Buffer.from(output)
    .subarray(0, MAX_OUTPUT_BYTES)
    .toString()
    .replace(/\uFFFD+$/, '');

const textBlock = (output: string): ContentBlock => ({ type: 'text', text: output });

const stringFrom = (value: unknown): string => (typeof value === 'string' ? value : '');

const objectFrom = (value: unknown): Values => (isObject(value) ? value : {});
