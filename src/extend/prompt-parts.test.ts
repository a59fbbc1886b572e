import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../store/testing/temp-folder.ts';
import { contextFiles } from './prompt-parts.ts';

/** A settings folder and a working folder two levels below the root. */
function contextFolders() {
  const root = tempFolder();
  const cwd = join(root, 'a', 'b');
  const agentDir = join(root, 'agent');
  for (const folder of [cwd, agentDir]) mkdirSync(folder, { recursive: true });
  const put = (path: string, text = path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  /** The context files below the temporary folder; the machine may have others above it. */
  const found = (where: { cwd?: string; agentDir?: string; trusted?: boolean; hidden?: string[] } = {}) =>
    contextFiles({ cwd, agentDir, trusted: true, ...where })
      .filter(({ path }) => path.startsWith(root))
      .map(({ path, text }) => [relative(root, path), text]);
  return { root, cwd, agentDir, put, found };
}

it('a folder tree without context files yields none', () => {
  expect(contextFolders().found()).toEqual([]);
});

it('[U2] the file of the agent folder comes first, then every folder from the root down', () => {
  const { put, found } = contextFolders();
  for (const path of ['a/b/AGENTS.md', 'a/CLAUDE.md', 'AGENTS.md', 'agent/AGENTS.md', 'a/b/c/AGENTS.md']) put(path);

  expect(found().map(([path]) => path)).toEqual(['agent/AGENTS.md', 'AGENTS.md', 'a/CLAUDE.md', 'a/b/AGENTS.md']);
});

it('[U2] each folder contributes only the first name in the order of precedence', () => {
  const { put, found } = contextFolders();
  const names = ['CLAUDE.md', 'AGENTS.md', 'AGENTS.override.md'];

  const counted = names.map((name) => {
    put(`a/b/${name}`);
    return found();
  });

  expect(counted).toEqual(names.map((name) => [[`a/b/${name}`, `a/b/${name}`]]));
});

it('a folder or dangling link under a context name is skipped for the next name', () => {
  const { root, put, found } = contextFolders();
  mkdirSync(join(root, 'a/b/AGENTS.md'));
  symlinkSync(join(root, 'nowhere'), join(root, 'a/b/AGENTS.override.md'));
  put('a/b/CLAUDE.md', 'claude');

  expect(found()).toEqual([['a/b/CLAUDE.md', 'claude']]);
});

it('an empty file yields no text and hides the later names of its folder', () => {
  const { put, found } = contextFolders();
  put('a/b/AGENTS.override.md', '\n');
  put('a/b/AGENTS.md');

  expect(found()).toEqual([]);
});

it('[U2] a file reached by several links is listed once, at its first position', () => {
  const { root, put, found } = contextFolders();
  put('a/AGENTS.md', 'once');
  symlinkSync('../AGENTS.md', join(root, 'a/b/AGENTS.md'));
  put('a/b/CLAUDE.md', 'hidden');
  symlinkSync(join(root, 'a/AGENTS.md'), join(root, 'agent/AGENTS.md'));

  expect(found()).toEqual([['agent/AGENTS.md', 'once']]);
});

it('the file of the agent folder is listed once when it is also the working folder', () => {
  const { agentDir, put, found } = contextFolders();
  put('agent/AGENTS.md', 'mine');

  expect(found({ cwd: agentDir, agentDir })).toEqual([['agent/AGENTS.md', 'mine']]);
});

it('[U34] a link out of an untrusted project is left out, and the next name is used', () => {
  const { root, cwd, put, found } = contextFolders();
  put('secret.md');
  put('a/AGENTS.md');
  put('a/b/CLAUDE.md');
  symlinkSync(join(root, 'secret.md'), join(cwd, 'AGENTS.md'));

  expect(found({ trusted: false })).toEqual([
    ['a/AGENTS.md', 'a/AGENTS.md'],
    ['a/b/CLAUDE.md', 'a/b/CLAUDE.md'],
  ]);
  expect(found({ trusted: true })).toEqual([
    ['a/AGENTS.md', 'a/AGENTS.md'],
    ['a/b/AGENTS.md', 'secret.md'],
  ]);
});

it('[U34] without a repository, a link out of a folder above an untrusted project is left out', () => {
  const { root, put, found } = contextFolders();
  put('secret.md');
  put('a/notes/mine.md');
  put('AGENTS.md');
  symlinkSync(join(root, 'secret.md'), join(root, 'a/AGENTS.md'));
  symlinkSync('notes/mine.md', join(root, 'a/CLAUDE.md'));

  expect(found({ trusted: false })).toEqual([
    ['AGENTS.md', 'AGENTS.md'],
    ['a/CLAUDE.md', 'a/notes/mine.md'],
  ]);
  expect(found({ trusted: true })).toEqual([
    ['AGENTS.md', 'AGENTS.md'],
    ['a/AGENTS.md', 'secret.md'],
  ]);
});

it('[U34] the agent folder may hold links even above an untrusted project', () => {
  const { root, agentDir, put, found } = contextFolders();
  put('mine.md');
  put('agent/project/notes.md');
  symlinkSync(join(root, 'mine.md'), join(agentDir, 'AGENTS.md'));

  expect(found({ cwd: join(agentDir, 'project'), trusted: false })).toEqual([['agent/AGENTS.md', 'mine.md']]);
});

it.each([true, false])('[U34] a link to a hidden file is left out, with trust %s', (trusted) => {
  const { root, agentDir, put, found } = contextFolders();
  put('agent/auth.json');
  put('vault/key');
  put('a/AGENTS.md');
  mkdirSync(join(root, 'a/.git'), { recursive: true });
  symlinkSync(join(agentDir, 'auth.json'), join(root, 'a/AGENTS.override.md'));
  mkdirSync(join(root, 'a/b'), { recursive: true });
  symlinkSync('../../vault/key', join(root, 'a/b/AGENTS.md'));

  expect(found({ cwd: join(root, 'a/b'), trusted, hidden: ['../../vault'] })).toEqual([['a/AGENTS.md', 'a/AGENTS.md']]);
});
