import type { Tool } from '../../tool.ts';
import { resolveToolPath } from '../tool-path.ts';
import { MAX_OUTPUT_BYTES } from '../truncate.ts';

const DEFAULT_LIMIT = 1000;

/** Finds files and folders by name. */
export const findTool = (cwd: string): Tool => ({
  name: 'find',
  description: `Find files and folders by a glob pattern. Answers paths relative to the folder searched, folders with a / at the end; what .gitignore names is left out. Shows at most ${DEFAULT_LIMIT} results or ${MAX_OUTPUT_BYTES / 1024} KB.`,
  parameters: {
    type: 'object',
    properties: {
      pattern: {
        type: 'string',
        description: "Such as '*.ts' for names at any depth, or 'src/**/*.{ts,tsx}' for paths",
      },
      path: { type: 'string', description: 'The folder to search, by default the working directory' },
      limit: { type: 'integer', minimum: 1, description: `How many results to show, by default ${DEFAULT_LIMIT}` },
    },
    required: ['pattern'],
  },
  execute: async ({ args, signal, permission }) => {
    const { findPaths } = await import('./find-paths.ts');
    const path = String(args['path'] ?? '.');
    const files = permission?.files;
    return findPaths({
      pattern: String(args['pattern']),
      path,
      folder: resolveToolPath(cwd, path, files?.translate),
      files,
      limit: Number(args['limit'] ?? DEFAULT_LIMIT),
      signal,
    });
  },
});
