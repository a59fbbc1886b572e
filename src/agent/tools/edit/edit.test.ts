import { execFileSync } from 'node:child_process';
import { setMaxListeners } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ToolResultMessage } from '../../../protocol/generated/vocabulary.ts';
import { temporaryFolder } from '../../../system/testing/script.ts';
import { runTools } from '../../run-tools.ts';
import { editTool } from './edit.ts';
import { writeTool } from './write.ts';

const cwd = temporaryFolder();
let files = 0;

/** Writes a file and returns its name. */
function file(content: string | Buffer): string {
  const name = `file-${++files}.txt`;
  writeFileSync(join(cwd, name), content);
  return name;
}

const contentOf = (name: string) => readFileSync(join(cwd, name), 'utf8');

/** Runs tool calls concurrently, as for one assistant message. */
async function run(calls: readonly (readonly [tool: string, args: Record<string, unknown>])[]) {
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  const events = runTools({
    calls: calls.map(([name, args], index) => ({ type: 'toolCall', id: String(index), name, arguments: args })),
    tools: [editTool(cwd), writeTool(cwd)],
    hooks: {},
    signal,
    sequential: false,
    isInterrupted: () => false,
  });
  while (true) {
    const { value, done } = await events.next();
    if (done) return value;
  }
}

const textOf = ({ content: [block] }: ToolResultMessage) => (block?.type === 'text' ? block.text : '');

async function edit(args: Record<string, unknown>): Promise<ToolResultMessage> {
  const [result] = await run([['edit', args]]);
  if (!result) throw new Error('No result');
  return result;
}

describe('edit', () => {
  it('replaces texts and describes the change', async () => {
    const path = file('one\r\ntwo\r\nthree\r\n');

    const result = await edit({
      path,
      edits: [
        { oldText: 'three', newText: '3' },
        { oldText: 'one\n', newText: '' },
      ],
    });

    expect(contentOf(path)).toBe('two\r\n3\r\n');
    expect(result).toMatchObject({
      isError: false,
      content: [{ type: 'text', text: `Successfully replaced 2 block(s) in ${path}.` }],
      details: {
        diff: '-1 one\n 2 two\n-3 three\n+2 3',
        patch: `--- ${path}\n+++ ${path}\n@@ -1,3 +1,2 @@\n-one\r\n two\r\n-three\r\n+3\r\n`,
        firstChangedLine: 1,
      },
    });
  });

  it('keeps the mode of the file and the symlink that leads to it', async () => {
    const path = file('old');
    chmodSync(join(cwd, path), 0o755);
    symlinkSync(path, join(cwd, 'link'));

    await edit({ path: 'link', edits: [{ oldText: 'old', newText: 'new' }] });

    expect([contentOf(path), statSync(join(cwd, path)).mode & 0o777]).toEqual(['new', 0o755]);
    expect(lstatSync(join(cwd, 'link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(cwd).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  it('changes nothing unless every edit can be made', async () => {
    const path = file('a b');

    const result = await edit({
      path,
      edits: [
        { oldText: 'a', newText: 'x' },
        { oldText: 'c', newText: 'y' },
      ],
    });

    expect([result.isError, contentOf(path)]).toEqual([true, 'a b']);
  });

  it('changes nothing after an abort', async () => {
    const path = file('a');
    const args = { path, edits: [{ oldText: 'a', newText: 'b' }] };

    const edited = editTool(cwd).execute({ toolCallId: '1', args, signal: AbortSignal.abort(), update: () => {} });

    await expect(edited).rejects.toThrow('aborted');
    expect(contentOf(path)).toBe('a');
  });
});

describe('edits are accepted', () => {
  const [oldText, newText] = ['a', 'b'];

  it.each([
    ['as a list', { edits: [{ oldText, newText }] }],
    ['as one edit', { edits: { oldText, newText } }],
    ['as JSON', { edits: JSON.stringify([{ oldText, newText }]) }],
    ['as JSON of one edit', { edits: JSON.stringify({ oldText, newText }) }],
    ['without a list', { oldText, newText }],
    ['without a list, beside an empty one', { edits: [], oldText, newText }],
  ])('%s', async (_how, args) => {
    const path = file('a');

    const result = await edit({ path, ...args });

    expect([textOf(result), contentOf(path)]).toEqual([`Successfully replaced 1 block(s) in ${path}.`, 'b']);
  });

  it('in a list and beside one', async () => {
    const path = file('a c');

    await edit({ path, edits: [{ oldText: 'c', newText: 'd' }], oldText, newText });

    expect(contentOf(path)).toBe('b d');
  });
});

describe('an edit that cannot be made fails with a reason:', () => {
  const edits = [{ oldText: 'a', newText: 'b' }];
  const inFolder = (name: string) => join(cwd, name);

  it.each([
    ['no file', { path: 'none/file', edits }, 'Could not edit file: none/file. Error code: ENOENT.'],
    ['no folder', { path: 'text/file', edits }, 'Could not edit file: text/file. Error code: ENOTDIR.'],
    ['a folder', { path: 'folder', edits }, 'Could not edit file: folder. Error code: EISDIR.'],
    ['a pipe', { path: 'pipe', edits }, `Not a regular file: ${inFolder('pipe')}`],
    ['no text', { path: 'latin', edits }, `Not UTF-8 text: ${inFolder('latin')}`],
    ['a NUL', { path: 'a\0b', edits }, 'A path cannot hold a NUL character: "a\\u0000b"'],
    ['none', { path: 'text', edits: [] }, 'Edit tool input is invalid. edits must contain at least one replacement.'],
    ['not found', { path: 'text', edits: [{ oldText: 'z', newText: '' }] }, 'Could not find the exact text in text.'],
    ['no list', { path: 'text' }, 'Validation failed for tool "edit":\n  - edits: is required'],
    ['half an edit', { path: 'text', oldText: 'a' }, 'Validation failed for tool "edit":\n  - edits: is required'],
    ['no JSON', { path: 'text', edits: '[{' }, 'Validation failed for tool "edit":\n  - edits: must be an array'],
    [
      'a list of words',
      { path: 'text', edits: ['a'] },
      'Validation failed for tool "edit":\n  - edits[0]: must be an object',
    ],
  ])('%s', async (_what, args, message) => {
    mkdirSync(inFolder('folder'), { recursive: true });
    rmSync(inFolder('pipe'), { force: true });
    execFileSync('mkfifo', [inFolder('pipe')]);
    writeFileSync(inFolder('latin'), Buffer.from([0x61, 0xe4]));
    writeFileSync(inFolder('text'), 'a');

    const result = await edit(args);

    expect(result.isError).toBe(true);
    expect(textOf(result).slice(0, message.length)).toBe(message);
  });

  it('too large', async () => {
    const path = file('a');
    truncateSync(inFolder(path), 33 * 1024 * 1024);

    expect(textOf(await edit({ path, edits }))).toBe(
      `File is too large: ${inFolder(path)} is 33.0MB, at most 32.0MB can be edited.`,
    );
  });
});

describe('concurrent calls', () => {
  it('on one file lose no edit', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => index);
    const path = file(numbers.map((number) => `<${number}>\n`).join(''));
    symlinkSync(path, join(cwd, 'other-name'));

    const results = await run(
      numbers.map((number) => [
        'edit',
        { path: number % 2 ? path : 'other-name', oldText: `<${number}>`, newText: `<done ${number}>` },
      ]),
    );

    expect(results.filter(({ isError }) => isError)).toEqual([]);
    expect(contentOf(path)).toBe(numbers.map((number) => `<done ${number}>\n`).join(''));
  });

  it('run in call order', async () => {
    const results = await run([
      ['write', { path: 'fresh', content: 'a' }],
      ['edit', { path: 'fresh', oldText: 'a', newText: 'b' }],
      ['edit', { path: 'fresh', oldText: 'b', newText: 'c' }],
      ['write', { path: 'fresh', content: 'd' }],
      ['edit', { path: 'fresh', oldText: 'd', newText: 'e' }],
    ]);

    expect([results.some(({ isError }) => isError), contentOf('fresh')]).toEqual([false, 'e']);
  });
});
