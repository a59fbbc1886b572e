import type { Tool } from '../../tool.ts';
import { resolveToolPath } from '../tool-path.ts';
import { MAX_OUTPUT_BYTES } from '../truncate.ts';

const DEFAULT_LIMIT = 100;

/** Searches the contents of files. */
export const grepTool = (cwd: string): Tool => ({
  name: 'grep',
  description: `Search files for a pattern. Answers the lines that match with their paths and numbers; what .gitignore names and binary files are left out. Shows at most ${DEFAULT_LIMIT} matches or ${MAX_OUTPUT_BYTES / 1024} KB.`,
  parameters: {
    type: 'object',
    properties: {
      pattern: { type: 'string', description: 'A regular expression, or plain text with literal' },
      path: { type: 'string', description: 'The file or folder to search, by default the working directory' },
      glob: { type: 'string', description: "Only files such as '*.ts' or 'src/**/*.{ts,tsx}'" },
      ignoreCase: { type: 'boolean', description: 'Take upper and lower case for the same' },
      literal: { type: 'boolean', description: 'Take the pattern as plain text' },
      context: { type: 'integer', minimum: 0, description: 'How many lines to show around each match, by default 0' },
      limit: { type: 'integer', minimum: 1, description: `How many matches to show, by default ${DEFAULT_LIMIT}` },
    },
    required: ['pattern'],
  },
  execute: async ({ args, signal, permission }) => {
    const { searchFiles } = await import('./grep-files.ts');
    const path = String(args['path'] ?? '.');
    return searchFiles({
      pattern: String(args['pattern']),
      shownPath: path,
      path: resolveToolPath(cwd, path),
      permission,
      glob: args['glob'] === undefined ? undefined : String(args['glob']),
      ignoreCase: args['ignoreCase'] === true,
      literal: args['literal'] === true,
      context: Number(args['context'] ?? 0),
      limit: Number(args['limit'] ?? DEFAULT_LIMIT),
      signal,
    });
  },
});
