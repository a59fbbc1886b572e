import { writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { makeFolder } from '../../system/make-folder.ts';
import { type Tool, textOutput } from '../tool.ts';
import { checkRegular } from './regular-file.ts';
import { toolPath } from './tool-path.ts';

/** Writes a whole file, making its folders. */
export const writeTool = (cwd: string): Tool => ({
  name: 'write',
  description: 'Write a file, replacing what it holds. Missing folders are made.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the working directory, or absolute' },
      content: { type: 'string', description: 'The whole content' },
    },
    required: ['path', 'content'],
  },
  execute: async ({ args, signal }) => {
    const path = String(args['path']);
    const content = String(args['content']);
    const target = toolPath(cwd, path);
    await checkRegular(target);
    makeFolder(dirname(target));
    await writeFile(target, content, { signal });
    return textOutput(`Successfully wrote ${content.length} bytes to ${path}`);
  },
});
