import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../store/testing/temp-folder.ts';
import { findPromptFile, MAX_PROMPT_BYTES, tryReadPromptFile } from './prompt-file.ts';

function written(content: string | Buffer, name = 'AGENTS.md'): string {
  const path = join(tempFolder(), name);
  writeFileSync(path, content);
  return path;
}

it.each([
  ['as it stands', 'Use tabs.\r\n', 'Use tabs.\r\n'],
  ['without its byte order mark', '\uFEFFUse tabs.', 'Use tabs.'],
  ['with what is no UTF-8 replaced', Buffer.from([0x61, 0xff, 0x62, 0xc3]), 'a\uFFFDb\uFFFD'],
  ['empty', '', ''],
])('reads a file %s', (_title, content, text) => {
  expect(tryReadPromptFile(written(content))).toBe(text);
});

it('a file that is too long is cut between two characters, with a note', () => {
  const path = written(`a${'é'.repeat(512 * 1024)}`);

  const text = tryReadPromptFile(path) ?? '';

  const note = `\n[The rest of ${path} is left out: it is too long.]`;
  expect(text).toBe(`a${'é'.repeat((MAX_PROMPT_BYTES - 1) / 2)}${note}`);
});

it('a file of the maximum length is read whole', () => {
  expect(tryReadPromptFile(written('x'.repeat(MAX_PROMPT_BYTES)))).toBe('x'.repeat(MAX_PROMPT_BYTES));
});

it('a path that is not a readable file yields undefined', () => {
  const folder = tempFolder();
  const at = (name: string) => join(folder, name);
  mkdirSync(at('folder'));
  symlinkSync(at('nowhere'), at('dangling'));
  symlinkSync(at('circle'), at('circle'));
  symlinkSync('/dev/zero', at('device'));
  execFileSync('mkfifo', [at('pipe')]);
  writeFileSync(at('closed'), 'secret');
  chmodSync(at('closed'), 0);

  const names = ['missing', 'folder', 'dangling', 'circle', 'device', 'pipe', 'closed/below'];

  expect(names.map((name) => tryReadPromptFile(at(name)))).toEqual(names.map(() => undefined));
  // Root may read everything.
  expect(tryReadPromptFile(at('closed'))).toBe(process.getuid?.() === 0 ? 'secret' : undefined);
});

function promptFolders() {
  const root = tempFolder();
  const cwd = join(root, 'project');
  const agentDir = join(root, 'agent');
  for (const folder of [agentDir, join(cwd, '.pi', 'agent')]) mkdirSync(folder, { recursive: true });
  const put = (folder: string, text: string) => writeFileSync(join(folder, 'SYSTEM.md'), text);
  return { cwd, agentDir, put };
}

it('the file of a trusted project overrides that of the user, and .pi overrides .pi/agent', () => {
  const { cwd, agentDir, put } = promptFolders();
  const found = (trusted: boolean) => findPromptFile('SYSTEM.md', { cwd, agentDir, trusted });

  expect(found(true)).toBeUndefined();
  put(agentDir, 'user');
  expect(found(true)).toBe('user');
  put(join(cwd, '.pi', 'agent'), 'deeper');
  expect(found(true)).toBe('deeper');
  put(join(cwd, '.pi'), 'project');
  expect([found(true), found(false)]).toEqual(['project', 'user']);
});

it('a blank file is ignored', () => {
  const { cwd, agentDir, put } = promptFolders();
  put(join(cwd, '.pi'), ' \n');
  put(agentDir, 'user');

  expect(findPromptFile('SYSTEM.md', { cwd, agentDir, trusted: true })).toBe('user');
});
