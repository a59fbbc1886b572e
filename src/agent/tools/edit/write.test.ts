import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../system/testing/script.ts';
import { writeTool } from './write.ts';

const cwd = temporaryFolder();

const write = (args: { path: string; content: string }, signal = new AbortController().signal) =>
  writeTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });

describe('write', () => {
  it('creates the file and its folders', async () => {
    const output = await write({ path: 'a/b/c.txt', content: 'one\ntwo\n' });

    expect(output).toEqual({ content: [{ type: 'text', text: 'Successfully wrote 8 bytes to a/b/c.txt' }] });
    expect(readFileSync(join(cwd, 'a/b/c.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('replaces the content and describes the change', async () => {
    await write({ path: 'file.txt', content: 'one\ntwo\n' });

    const changed = await write({ path: 'file.txt', content: 'one\n2\n' });
    const same = await write({ path: 'file.txt', content: 'one\n2\n' });
    const emptied = await write({ path: 'file.txt', content: '' });

    expect(readFileSync(join(cwd, 'file.txt'), 'utf8')).toBe('');
    expect(changed).toEqual({
      content: [{ type: 'text', text: 'Successfully wrote 6 bytes to file.txt' }],
      details: { diff: ' 1 one\n-2 two\n+2 2', patch: expect.stringContaining('-two\n+2\n'), firstChangedLine: 2 },
    });
    expect(same.details).toMatchObject({ diff: '   ...' });
    expect(emptied.details).toMatchObject({ diff: '-1 one\n-2 2' });
  });

  it.each([
    ['that was empty', '', 'new'],
    ['that is no text', Buffer.of(0x61, 0xff), 'new'],
    ['with NUL characters', 'a\0b', 'new'],
    ['that is too large', 'x\n'.repeat(128 * 1024 + 1), 'new'],
    ['that becomes too large', 'old', 'x\n'.repeat(128 * 1024 + 1)],
  ])('returns no details for a file %s', async (_, before, content) => {
    writeFileSync(join(cwd, 'other.txt'), before);

    const output = await write({ path: 'other.txt', content });

    expect(output).not.toHaveProperty('details');
    expect(readFileSync(join(cwd, 'other.txt'), 'utf8')).toBe(content);
  });

  it('keeps the mode of the file, and follows symlinks, also into missing folders', async () => {
    writeFileSync(join(cwd, 'program'), 'old');
    chmodSync(join(cwd, 'program'), 0o755);
    symlinkSync('program', join(cwd, 'link'));
    symlinkSync('not/yet/there', join(cwd, 'dangling'));

    await write({ path: 'link', content: 'new' });
    await write({ path: 'dangling', content: 'new' });

    expect(readFileSync(join(cwd, 'program'), 'utf8')).toBe('new');
    expect(statSync(join(cwd, 'program')).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(cwd, 'not/yet/there'), 'utf8')).toBe('new');
    expect(['link', 'dangling'].map((name) => lstatSync(join(cwd, name)).isSymbolicLink())).toEqual([true, true]);
    expect(readdirSync(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('compares texts of up to 256 KiB of bytes, old and new alike', async () => {
    const withinUnitsOnly = 'é'.repeat(200 * 1024);
    writeFileSync(join(cwd, 'small.txt'), 'old\n');
    writeFileSync(join(cwd, 'large.txt'), withinUnitsOnly);

    expect(await write({ path: 'small.txt', content: withinUnitsOnly })).not.toHaveProperty('details');
    expect(await write({ path: 'large.txt', content: 'new\n' })).not.toHaveProperty('details');
  });

  it('fails on a folder', async () => {
    mkdirSync(join(cwd, 'folder'));

    await expect(write({ path: 'folder', content: 'x' })).rejects.toThrow(
      `EISDIR: illegal operation on a directory, open '${join(cwd, 'folder')}'`,
    );
  });

  it('does not write into a pipe', async () => {
    execFileSync('mkfifo', [join(cwd, 'pipe')]);

    await expect(write({ path: 'pipe', content: 'x' })).rejects.toThrow(`Not a regular file: ${join(cwd, 'pipe')}`);
  });

  it('fails if no folder can be created', async () => {
    await expect(write({ path: '/dev/fd/nope/file.txt', content: 'x' })).rejects.toThrow('mkdir');
  });

  it('writes nothing after an abort', async () => {
    await expect(write({ path: 'never.txt', content: 'x' }, AbortSignal.abort())).rejects.toThrow('aborted');

    expect(existsSync(join(cwd, 'never.txt'))).toBe(false);
  });
});
