import type { Tool } from '../../tool.ts';
import { resolveExistingPath } from '../tool-path.ts';
import { formatBytes, MAX_OUTPUT_BYTES, MAX_OUTPUT_LINES } from '../truncate.ts';

/** Reads a text file, a range of its lines, or an image. */
export const readTool = (cwd: string): Tool => ({
  name: 'read',
  description: `Read a text file or look at an image (JPEG, PNG, GIF, WebP, BMP). A text is cut at ${MAX_OUTPUT_LINES} lines or ${formatBytes(MAX_OUTPUT_BYTES)}; use offset and limit to read on from a given line.`,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the working directory, or absolute' },
      offset: { type: 'number', minimum: 1, description: 'Line to start at, counted from 1' },
      limit: { type: 'number', minimum: 1, description: 'How many lines to read' },
    },
    required: ['path'],
  },
  execute: async ({ args, signal, permission }) => {
    const { readForModel } = await import('./read-file.ts');
    const path = String(args['path']);
    const [offset, limit] = [Number(args['offset'] ?? 1), Number(args['limit'] ?? Number.POSITIVE_INFINITY)];
    const range = { offset: Math.floor(offset), limit: Math.floor(limit) };
    const files = permission?.files;
    return readForModel({ path, target: resolveExistingPath(cwd, path, files?.translate), files, ...range }, signal);
  },
});
