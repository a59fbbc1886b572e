import { withFileMutex } from '../../../system/files/file-mutex.ts';
import { type Tool, textOutput } from '../../tool.ts';
import { resolveToolPath } from '../tool-path.ts';

/** Writes a whole file and creates its folders. */
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
  execute: async ({ args, signal, permission }) => {
    const path = String(args['path']);
    const content = String(args['content']);
    const files = permission?.files;
    const target = resolveToolPath(cwd, path, files?.translate);
    const details = await withFileMutex(target, async () => {
      const { writeWholeFile } = await import('./write-file.ts');
      return writeWholeFile({ path, target, files, content }, signal);
    });
    const output = textOutput(`Successfully wrote ${Buffer.byteLength(content)} bytes to ${path}`);
    return details ? { ...output, details } : output;
  },
});
