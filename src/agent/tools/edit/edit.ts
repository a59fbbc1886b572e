import { withFileMutex } from '../../../system/files/file-mutex.ts';
import type { Tool } from '../../tool.ts';
import { resolveExistingPath } from '../tool-path.ts';
import type { Edit } from './edit-text.ts';

/** Replaces parts of a text file. */
export const editTool = (cwd: string): Tool => ({
  name: 'edit',
  description:
    'Replace parts of a text file. Each oldText must stand in the file exactly once, and no two may overlap; all are looked for in the file as it is before the call. Make several changes of one file in one call.',
  parameters: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Relative to the working directory, or absolute' },
      edits: {
        type: 'array',
        description: 'The replacements',
        items: {
          type: 'object',
          properties: {
            oldText: { type: 'string', description: 'What the file holds now, with as many lines as make it unique' },
            newText: { type: 'string', description: 'What is to stand there instead' },
          },
          required: ['oldText', 'newText'],
        },
      },
    },
    required: ['path', 'edits'],
  },
  prepareArguments: normalizeEditArguments,
  execute: async ({ args, signal, permission }) => {
    const path = String(args['path']);
    const files = permission?.files;
    const target = resolveExistingPath(cwd, path, files?.translate);
    return withFileMutex(target, async () => {
      const { editFile } = await import('./edit-file.ts');
      return editFile({ path, target, files, edits: args['edits'] as readonly Edit[] }, signal);
    });
  },
});

type EditArguments = Readonly<Record<string, unknown>>;

/** Normalizes the arguments of edit: models also send a single edit, the list as JSON, or no list. */
export function normalizeEditArguments(args: EditArguments): EditArguments {
  const { oldText, newText, ...rest } = args;
  const edits = toEditList(args['edits']);
  if (typeof oldText !== 'string' || typeof newText !== 'string') return { ...args, ...(edits ? { edits } : {}) };
  return { ...rest, edits: [...(edits ?? []), { oldText, newText }] };
}

function toEditList(edits: unknown): readonly unknown[] | undefined {
  if (typeof edits === 'string') return toEditList(parseJson(edits));
  if (Array.isArray(edits)) return edits;
  return typeof edits === 'object' && edits !== null ? [edits] : undefined;
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'string' ? undefined : value;
  } catch {
    return undefined;
  }
}
