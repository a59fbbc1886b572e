import type { Tool } from '../../tool.ts';
import { resolveToolPath } from '../tool-path.ts';
import { MAX_OUTPUT_BYTES } from '../truncate.ts';

const DEFAULT_LIMIT = 500;

/** Lists a folder. */
export const lsTool = (cwd: string): Tool => ({
  name: 'ls',
  description: `List a folder, dotfiles too. Folders end in /. Shows at most ${DEFAULT_LIMIT} entries or ${MAX_OUTPUT_BYTES / 1024} KB.`,
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'The folder, by default the working directory' },
      limit: { type: 'integer', minimum: 1, description: `How many entries to show, by default ${DEFAULT_LIMIT}` },
    },
  },
  execute: async ({ args, signal, permission }) => {
    const { listFolder } = await import('./ls-folder.ts');
    const path = String(args['path'] ?? '.');
    const files = permission?.files;
    const folder = resolveToolPath(cwd, path, files?.translate);
    return listFolder({ path, folder, files, limit: Number(args['limit'] ?? DEFAULT_LIMIT), signal });
  },
});
