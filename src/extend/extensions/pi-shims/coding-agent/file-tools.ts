import { dirname } from 'node:path';
import { type Tool, type ToolOutput, textOutput } from '../../../../agent/tool.ts';
import { editTool } from '../../../../agent/tools/edit/edit.ts';
import type { Edit } from '../../../../agent/tools/edit/edit-text.ts';
import { writeTool } from '../../../../agent/tools/edit/write.ts';
import { readTool } from '../../../../agent/tools/read/read.ts';
import type { LineRange } from '../../../../agent/tools/read/read-file.ts';
import { resolveToolPath } from '../../../../agent/tools/tool-path.ts';
import { MAX_OUTPUT_BYTES } from '../../../../agent/tools/truncate.ts';
import { throwIfAborted } from '../../../../agent/unless-aborted.ts';
import { withFileMutex } from '../../../../system/files/file-mutex.ts';
import type { FileToolOperations } from '../../api/bash-backend.ts';

/** The read, edit and write tools with the file operations of an extension. */
export const readWith = (cwd: string, operations: FileToolOperations): Tool => ({
  ...readTool(cwd),
  execute: async ({ args, signal }) => {
    const path = String(args['path']);
    const target = resolveToolPath(cwd, path);
    await operations.access(target);
    throwIfAborted(signal);
    const mimeType = await operations.detectImageMimeType?.(target);
    const bytes = await operations.readFile(target);
    throwIfAborted(signal);
    if (mimeType) return imageOutput(bytes, mimeType);
    const offset = Math.floor(Number(args['offset'] ?? 1));
    const limit = Math.floor(Number(args['limit'] ?? Number.POSITIVE_INFINITY));
    const { excerpt } = await import('../../../../agent/tools/read/read-file.ts');
    return excerpt({ path, offset }, rangeOf(bytes, offset, limit));
  },
});

const imageOutput = (bytes: Buffer, mimeType: string): ToolOutput => ({
  content: [
    { type: 'text', text: `Read image file [${mimeType}]` },
    { type: 'image', data: bytes.toString('base64'), mimeType },
  ],
});

function rangeOf(bytes: Buffer, offset: number, limit: number): LineRange {
  const all = bytes.toString().split('\n');
  if (offset > all.length) throw new Error(`Offset ${offset} is beyond end of file (${all.length} lines total)`);
  const selected = all.slice(offset - 1, offset - 1 + limit);
  const range = Buffer.from(selected.join('\n'));
  return {
    head: range.subarray(0, MAX_OUTPUT_BYTES + 1),
    lines: selected.length,
    bytes: range.length,
    firstLineBytes: Buffer.byteLength(selected[0] ?? ''),
    totalLines: all.length,
  };
}

export const editWith = (cwd: string, operations: FileToolOperations): Tool => ({
  ...editTool(cwd),
  execute: async ({ args, signal }) => {
    const path = String(args['path']);
    const target = resolveToolPath(cwd, path);
    const edits = args['edits'] as readonly Edit[];
    const [{ editText }, { describeChange }] = await Promise.all([
      import('../../../../agent/tools/edit/edit-text.ts'),
      import('../../../../agent/tools/edit/edit-diff.ts'),
    ]);
    return withFileMutex(target, async () => {
      await operations.access(target);
      throwIfAborted(signal);
      const before = (await operations.readFile(target)).toString();
      const after = editText(before, edits, path);
      throwIfAborted(signal);
      await operations.writeFile(target, after);
      const output = textOutput(`Successfully replaced ${edits.length} block(s) in ${path}.`);
      return { ...output, details: describeChange(path, before, after) };
    });
  },
});

export const writeWith = (cwd: string, operations: FileToolOperations): Tool => ({
  ...writeTool(cwd),
  execute: async ({ args, signal }) => {
    const path = String(args['path']);
    const content = String(args['content']);
    const target = resolveToolPath(cwd, path);
    return withFileMutex(target, async () => {
      throwIfAborted(signal);
      await operations.mkdir(dirname(target));
      throwIfAborted(signal);
      await operations.writeFile(target, content);
      return textOutput(`Successfully wrote ${Buffer.byteLength(content)} bytes to ${path}`);
    });
  },
});
