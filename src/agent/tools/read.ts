import { readFile } from 'node:fs/promises';
import { type Tool, textOutput } from '../tool.ts';
import { checkReadable } from './regular-file.ts';
import { toolPath } from './tool-path.ts';
import { keepHead, MAX_BYTES, sizeOf, type Truncation } from './truncate.ts';

/** Reads a text file, or a range of its lines. */
export const readTool = (cwd: string): Tool => ({
  name: 'read',
  description:
    'Read a text file. Long files are cut at 2000 lines or 50 KB; use offset and limit to read on from a given line.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the working directory, or absolute' },
      offset: { type: 'number', minimum: 1, description: 'Line to start at, counted from 1' },
      limit: { type: 'number', minimum: 1, description: 'How many lines to read' },
    },
    required: ['path'],
  },
  execute: async ({ args, signal }) => {
    const path = String(args['path']);
    const target = toolPath(cwd, path);
    await checkReadable(target);
    const text = await readFile(target, { encoding: 'utf8', signal });
    return excerpt(path, text, { offset: Number(args['offset'] ?? 1), limit: optionalNumber(args['limit']) });
  },
});

function excerpt(path: string, text: string, { offset, limit }: { offset: number; limit: number | undefined }) {
  const lines = text.split('\n');
  if (offset > lines.length) throw new Error(`Offset ${offset} is beyond end of file (${lines.length} lines total)`);
  const wanted = lines.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
  const kept = keepHead(wanted.join('\n'));
  const last = offset - 1 + (kept.truncated ? kept.outputLines : wanted.length);
  const note = notice({ path, kept, offset, last, total: lines.length, firstLine: wanted[0] ?? '' });
  const output = textOutput(kept.content + (note && kept.content ? `\n\n${note}` : note));
  return kept.truncated ? { ...output, details: { truncation: kept } } : output;
}

interface Extent {
  path: string;
  kept: Truncation;
  offset: number;
  last: number;
  total: number;
  firstLine: string;
}

function notice({ path, kept, offset, last, total, firstLine }: Extent): string {
  if (kept.firstLineExceedsLimit) {
    const size = sizeOf(Buffer.byteLength(firstLine));
    return `[Line ${offset} is ${size}, exceeds ${sizeOf(MAX_BYTES)} limit. Use bash: sed -n '${offset}p' ${path} | head -c ${MAX_BYTES}]`;
  }
  if (kept.truncated) {
    const limit = kept.truncatedBy === 'bytes' ? ` (${sizeOf(MAX_BYTES)} limit)` : '';
    return `[Showing lines ${offset}-${last} of ${total}${limit}. Use offset=${last + 1} to continue.]`;
  }
  return last < total ? `[${total - last} more lines in file. Use offset=${last + 1} to continue.]` : '';
}

const optionalNumber = (value: unknown) => (value === undefined ? undefined : Number(value));
