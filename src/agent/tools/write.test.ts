import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../system/testing/script.ts';
import { toolPath } from './tool-path.ts';
import { writeTool } from './write.ts';

const cwd = temporaryFolder();

const write = (args: { path: string; content: string }, signal = new AbortController().signal) =>
  writeTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });

describe('write', () => {
  it('makes the file and its folders', async () => {
    const output = await write({ path: 'a/b/c.txt', content: 'one\ntwo\n' });

    expect(output).toEqual({ content: [{ type: 'text', text: 'Successfully wrote 8 bytes to a/b/c.txt' }] });
    expect(readFileSync(join(cwd, 'a/b/c.txt'), 'utf8')).toBe('one\ntwo\n');
  });

  it('replaces what the file held', async () => {
    await write({ path: 'file.txt', content: 'a long first content' });

    await write({ path: 'file.txt', content: '' });

    expect(readFileSync(join(cwd, 'file.txt'), 'utf8')).toBe('');
  });

  it('fails where a folder stands', async () => {
    mkdirSync(join(cwd, 'folder'));

    await expect(write({ path: 'folder', content: 'x' })).rejects.toThrow('EISDIR');
  });

  it('fails where no folder can be made', async () => {
    await expect(write({ path: '/dev/fd/nope/file.txt', content: 'x' })).rejects.toThrow('mkdir');
  });

  it('writes nothing after an abort', async () => {
    await expect(write({ path: 'never.txt', content: 'x' }, AbortSignal.abort())).rejects.toThrow('aborted');

    expect(existsSync(join(cwd, 'never.txt'))).toBe(false);
  });
});

describe('a path', () => {
  it.each([
    ['a/b', '/srv/a/b'],
    ['../b', '/b'],
    ['/etc/hosts', '/etc/hosts'],
    ['@a/b', '/srv/a/b'],
    ['@@a', '/srv/@a'],
    ['~', homedir()],
    ['~/a', join(homedir(), 'a')],
    ['@~/a', join(homedir(), 'a')],
    ['~user/a', '/srv/~user/a'],
    ['a\u00A0b\u202Fc\u3000d', '/srv/a b c d'],
  ])('%j is meant as %s', (path, meant) => {
    expect(toolPath('/srv', path)).toBe(meant);
  });
});
