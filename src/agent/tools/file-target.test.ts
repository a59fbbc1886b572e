import { linkSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../system/testing/script.ts';
import { proposedChange } from './edit/proposed-change.ts';
import { type FileTarget, fileTargetOf } from './file-target.ts';

const base = realpathSync(temporaryFolder());
const emptyFolder = () => mkdtempSync(join(base, 'case-'));

describe('fileTargetOf', () => {
  const cwd = emptyFolder();
  mkdirSync(join(cwd, 'folder'));
  writeFileSync(join(cwd, 'folder/file'), '');
  linkSync(join(cwd, 'folder/file'), join(cwd, 'twin'));
  writeFileSync(join(cwd, 'it\u2019s'), '');
  symlinkSync('folder/file', join(cwd, 'link'));
  symlinkSync('nowhere/x', join(cwd, 'dangling'));
  const missing = { exists: false, isFolder: false, hasOtherNames: false };
  const folder = { exists: true, isFolder: true, hasOtherNames: false };
  const file = { exists: true, isFolder: false, hasOtherNames: false };

  it.each([
    ['read', { path: 'link' }, { path: 'link', realPath: 'folder/file', ...file, hasOtherNames: true }],
    ['edit', { path: 'twin' }, { path: 'twin', realPath: 'twin', ...file, hasOtherNames: true }],
    ['edit', { path: "it's" }, { path: "it's", realPath: 'it\u2019s', ...file }],
    ['write', { path: "it's" }, { path: "it's", realPath: "it's", ...missing }],
    ['write', { path: '@new/x' }, { path: '@new/x', realPath: 'new/x', ...missing }],
    ['write', { path: 'dangling' }, { path: 'dangling', realPath: 'nowhere/x', ...missing }],
    ['write', { path: 'link/x' }, { path: 'link/x', realPath: 'folder/file/x', ...missing }],
    ['ls', {}, { path: '.', realPath: '', ...folder }],
    ['find', { pattern: '*', path: 'folder' }, { path: 'folder', realPath: 'folder', ...folder }],
    ['grep', { pattern: 'x' }, { path: '.', realPath: '', ...folder }],
  ])('finds the real path of %s %j', (toolName, args, expected) => {
    expect(fileTargetOf({ toolName, args, cwd })).toEqual({ ...expected, realPath: join(cwd, expected.realPath) });
  });

  it('translates absolute paths before links are resolved', () => {
    const translate = (path: string) => path.replace('/session-tmp', cwd);

    expect(fileTargetOf({ toolName: 'read', args: { path: '/session-tmp/link' }, cwd: '/', translate })).toMatchObject({
      path: '/session-tmp/link',
      realPath: join(cwd, 'folder/file'),
    });
  });

  it('knows no other tools, and throws for a path that no file can have', () => {
    symlinkSync('loop', join(cwd, 'loop'));

    expect(fileTargetOf({ toolName: 'bash', args: { path: 'x' }, cwd })).toBeUndefined();
    expect(() => fileTargetOf({ toolName: 'read', args: { path: 'a\0b' }, cwd })).toThrow('NUL');
    expect(() => fileTargetOf({ toolName: 'write', args: { path: 'loop' }, cwd })).toThrow('ELOOP');
  });
});

describe('proposedChange', () => {
  /** Proposes a change of `file` in a folder that has it with this content. */
  async function diffOf(toolName: string, args: Record<string, unknown>, content?: string | Buffer) {
    const cwd = emptyFolder();
    if (content !== undefined) writeFileSync(join(cwd, 'file'), content);
    const target = fileTargetOf({ toolName, args: { path: 'file' }, cwd }) as FileTarget;
    return (await proposedChange(toolName, args, target))?.diff;
  }

  const edits = [{ oldText: 'two', newText: '2' }];

  it('shows the diff of a write and of an edit', async () => {
    expect(await diffOf('write', { content: 'one\n' })).toBe('+1 one');
    expect(await diffOf('write', { content: 'one\n2\n' }, 'one\ntwo\n')).toBe(' 1 one\n-2 two\n+2 2');
    expect(await diffOf('write', { content: '' }, 'one\n')).toContain('-1 one');
    expect(await diffOf('edit', { edits }, 'one\ntwo\n')).toBe(' 1 one\n-2 two\n+2 2');
  });

  it.each([
    ['an edit of a missing file', 'edit', { edits }, undefined],
    ['an edit that finds nothing', 'edit', { edits }, 'one\n'],
    ['an edit of a binary file', 'edit', { edits }, Buffer.of(0xff, 0)],
    ['an edit of a file over 1 MiB', 'edit', { edits }, `two${'\n'.repeat(1024 * 1024)}`],
    ['a write over a binary file', 'write', { content: 'x' }, Buffer.of(0xff, 0)],
    ['a write over a large file', 'write', { content: 'x' }, 'x'.repeat(256 * 1024 + 1)],
    ['a large write', 'write', { content: 'x'.repeat(256 * 1024 + 1) }, 'x'],
    ['another tool', 'read', {}, 'x'],
  ])('is undefined for %s', async (_title, toolName, args, content) => {
    expect(await diffOf(toolName, args, content)).toBeUndefined();
  });

  it('is undefined for a folder and for a pipe', async () => {
    const cwd = emptyFolder();
    const target = fileTargetOf({ toolName: 'write', args: { path: '.' }, cwd }) as FileTarget;
    const device = fileTargetOf({ toolName: 'write', args: { path: '/dev/null' }, cwd }) as FileTarget;

    expect(await proposedChange('write', { content: 'x' }, target)).toBeUndefined();
    expect(await proposedChange('edit', { edits }, target)).toBeUndefined();
    expect(await proposedChange('write', { content: 'x' }, device)).toBeUndefined();
  });
});
