import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryPathBeside } from '../../../system/files/atomic-write.ts';
import { temporaryFolder } from '../../../system/testing/script.ts';
import type { ToolOutput } from '../../tool.ts';
import { lsTool } from './ls.ts';

const cwd = temporaryFolder();

/** Creates a folder with these files; a trailing / makes a folder. */
function folderWith(...names: readonly (string | Buffer)[]): string {
  const folder = mkdtempSync(join(cwd, 'folder-'));
  for (const name of names) {
    const path = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(name)]);
    if (typeof name === 'string' && name.endsWith('/')) mkdirSync(path);
    else writeFileSync(path, '');
  }
  return folder;
}

const ls = (args: Record<string, unknown>, signal = new AbortController().signal): Promise<ToolOutput> =>
  lsTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });

const text = (value: string): ToolOutput => ({ content: [{ type: 'text', text: value }] });
const textIn = ({ content: [block] }: ToolOutput) => (block?.type === 'text' ? block.text : '');

describe('ls', () => {
  it('sorts names without case, lists dotfiles and marks folders', async () => {
    const path = folderWith('b.txt', 'A.txt', 'c/', '.env', 'B.txt');

    expect(await ls({ path })).toEqual(text('.env\nA.txt\nB.txt\nb.txt\nc/'));
  });

  it('lists the working directory by default', async () => {
    const path = folderWith('only');

    const output = await lsTool(path).execute({
      toolCallId: 'call',
      args: {},
      signal: new AbortController().signal,
      update: () => {},
    });

    expect(output).toEqual(text('only'));
  });

  it('resolves symlinks to folders, files, nothing and themselves', async () => {
    const path = folderWith('file');
    symlinkSync('.', join(path, 'to-folder'));
    symlinkSync('file', join(path, 'to-file'));
    symlinkSync('missing', join(path, 'to-nothing'));
    symlinkSync('to-itself', join(path, 'to-itself'));

    expect(await ls({ path })).toEqual(text('file\nto-file\nto-folder/\nto-itself\nto-nothing'));
  });

  it('escapes control characters in names', async () => {
    const path = folderWith('two\nlines', '-rf', ' space ', 'esc\u001b[2J', Buffer.from([0x6e, 0xff]));

    expect(await ls({ path })).toEqual(text(' space \n-rf\nesc\\x1b[2J\nn\uFFFD\ntwo\\nlines'));
  });

  it('of an empty folder says "(empty directory)"', async () => {
    expect(await ls({ path: folderWith() })).toEqual(text('(empty directory)'));
  });

  it('of a missing folder fails with its path', async () => {
    await expect(ls({ path: 'missing' })).rejects.toThrow(`Path not found: ${join(cwd, 'missing')}`);
  });

  it('of a file fails with its path', async () => {
    const file = join(folderWith('file'), 'file');

    await expect(ls({ path: file })).rejects.toThrow(`Not a directory: ${file}`);
  });

  it('fails after an abort', async () => {
    await expect(ls({ path: folderWith('a') }, AbortSignal.abort())).rejects.toThrow('Operation aborted');
  });
});

describe('the limit', () => {
  it('adds a notice with the next limit', async () => {
    expect(await ls({ path: folderWith('a', 'b', 'c'), limit: 2 })).toEqual({
      ...text('a\nb\n\n[2 entries limit reached. Use limit=4 for more]'),
      details: { entryLimitReached: 2 },
    });
  });

  it('adds no notice if all entries are shown', async () => {
    expect(await ls({ path: folderWith('a', 'b'), limit: 2 })).toEqual(text('a\nb'));
  });

  it('is 50 KiB at most', async () => {
    const path = folderWith(...Array.from({ length: 300 }, (_, index) => `${'x'.repeat(200)}${index}`));

    const output = await ls({ path, limit: 300 });

    expect(textIn(output)).toMatch(/\n\n\[50\.0KB limit reached\]$/);
    expect(output.details).toMatchObject({ truncation: { truncated: true, truncatedBy: 'bytes' } });
  });

  it('keeps the order of any names', async () => {
    const names = fc.uniqueArray(
      fc.stringMatching(/^[a-cA-C_.0-9é-]{1,6}$/).filter((name) => !/^\.+$/.test(name)),
      {
        minLength: 1,
        maxLength: 12,
      },
    );

    await fc.assert(
      fc.asyncProperty(names, fc.integer({ min: 1, max: 12 }), async (some, limit) => {
        const lines = textIn(await ls({ path: folderWith(...some), limit })).split('\n');

        const shown = lines.slice(0, Math.min(limit, some.length));
        const folded = shown.map((name) => name.toLowerCase());
        const rest = some.filter((name) => !shown.includes(name));
        expect(folded).toEqual([...folded].sort());
        expect(rest.filter((name) => name.toLowerCase() < (folded.at(-1) ?? ''))).toEqual([]);
        expect(lines.length > shown.length).toBe(some.length > limit);
      }),
      { numRuns: 50 },
    );
  });
});

it('[T29] ls does not list files that tau is writing', async () => {
  const path = folderWith('a.txt', '.tau-notes.tmp');
  writeFileSync(temporaryPathBeside(join(path, 'a.txt')), 'half');

  expect(await ls({ path })).toEqual(text('.tau-notes.tmp\na.txt'));
});
