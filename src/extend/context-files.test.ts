import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../store/testing/temp-folder.ts';
import { contextFiles } from './context-files.ts';

/** A user with a folder of settings and a folder deep in another one. */
function contextFolders() {
  const root = tempFolder();
  const cwd = join(root, 'a', 'b');
  const agentDir = join(root, 'agent');
  for (const folder of [cwd, agentDir]) mkdirSync(folder, { recursive: true });
  const put = (path: string, text = path) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  /** What is found below the temporary folder: what lies above it is not ours. */
  const found = (where: { cwd: string; agentDir: string } = { cwd, agentDir }) =>
    contextFiles(where)
      .filter(({ path }) => path.startsWith(root))
      .map(({ path, text }) => [relative(root, path), text]);
  return { root, cwd, agentDir, put, found };
}

it('nothing is found where nothing is', () => {
  expect(contextFolders().found()).toEqual([]);
});

it("the user's comes first, then every folder from the root down", () => {
  const { put, found } = contextFolders();
  for (const path of ['a/b/AGENTS.md', 'a/CLAUDE.md', 'AGENTS.md', 'agent/AGENTS.md', 'a/b/c/AGENTS.md']) put(path);

  expect(found().map(([path]) => path)).toEqual(['agent/AGENTS.md', 'AGENTS.md', 'a/CLAUDE.md', 'a/b/AGENTS.md']);
});

it('of one folder the first by name counts', () => {
  const { put, found } = contextFolders();
  const names = ['CLAUDE.md', 'AGENTS.md', 'AGENTS.override.md'];

  const counted = names.map((name) => {
    put(`a/b/${name}`);
    return found();
  });

  expect(counted).toEqual(names.map((name) => [[`a/b/${name}`, `a/b/${name}`]]));
});

it('what is no file is passed over, and the next name counts', () => {
  const { root, put, found } = contextFolders();
  mkdirSync(join(root, 'a/b/AGENTS.md'));
  symlinkSync(join(root, 'nowhere'), join(root, 'a/b/AGENTS.override.md'));
  put('a/b/CLAUDE.md', 'claude');

  expect(found()).toEqual([['a/b/CLAUDE.md', 'claude']]);
});

it('an empty file hides those behind it and says nothing', () => {
  const { put, found } = contextFolders();
  put('a/b/AGENTS.override.md', '\n');
  put('a/b/AGENTS.md');

  expect(found()).toEqual([]);
});

it('a file that several names lead to counts once, where it comes first', () => {
  const { root, put, found } = contextFolders();
  put('a/AGENTS.md', 'once');
  symlinkSync('../AGENTS.md', join(root, 'a/b/AGENTS.md'));
  put('a/b/CLAUDE.md', 'hidden');
  symlinkSync(join(root, 'a/AGENTS.md'), join(root, 'agent/AGENTS.md'));

  expect(found()).toEqual([['agent/AGENTS.md', 'once']]);
});

it('a user who works in the folder of the settings is told its file once', () => {
  const { agentDir, put, found } = contextFolders();
  put('agent/AGENTS.md', 'mine');

  expect(found({ cwd: agentDir, agentDir })).toEqual([['agent/AGENTS.md', 'mine']]);
});
