import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { MAX_NAMES, MAX_SKILL_DEPTH, skillFiles } from './skill-files.ts';

function folderWith(...files: readonly (string | [string, string])[]) {
  const root = tempFolder();
  for (const file of files) {
    const [name, text] = typeof file === 'string' ? [file, ''] : file;
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const find = async () => {
    const warnings: string[] = [];
    const found = await skillFiles(root, (warning) => warnings.push(warning));
    return { files: found.map((path) => relative(root, path)), warnings };
  };
  return { root, find };
}

it('finds every SKILL.md, and other .md files in the folder itself, sorted by name', async () => {
  const { find } = folderWith('z/SKILL.md', 'a/b/c/SKILL.md', 'm.md', 'n.txt', 'a/readme.md', 'skill.md/SKILL.md');

  expect(await find()).toEqual({ files: ['a/b/c/SKILL.md', 'm.md', 'skill.md/SKILL.md', 'z/SKILL.md'], warnings: [] });
});

it('a folder with a SKILL.md is one skill, whatever else it contains', async () => {
  const { find } = folderWith('SKILL.md', 'other.md', 'deeper/SKILL.md');

  expect((await find()).files).toEqual(['SKILL.md']);
});

it('hidden names, node_modules and special files are skipped', async () => {
  const { root, find } = folderWith(
    '.hidden/SKILL.md',
    '.hidden.md',
    'node_modules/a/SKILL.md',
    'a/SKILL.md/x',
    'b/SKILL.md',
  );
  symlinkSync('/dev/zero', join(root, 'endless.md'));
  symlinkSync('nowhere', join(root, 'dangling.md'));

  expect(await find()).toEqual({ files: ['b/SKILL.md'], warnings: [] });
});

it.each(['.gitignore', '.ignore', '.fdignore'])('%s excludes names in its folder and below', async (name) => {
  const { find } = folderWith(
    [name, '/old/\ndraft-*\nloose.md\n'],
    'old/SKILL.md',
    'new/draft-1/SKILL.md',
    'new/old/SKILL.md',
    'loose.md',
    [`deep/${name}`, 'SKILL.md\n'],
    'deep/SKILL.md',
    'deep/er/SKILL.md',
  );

  expect((await find()).files).toEqual(['new/old/SKILL.md']);
});

it('.fdignore overrides .ignore, which overrides .gitignore', async () => {
  const { find } = folderWith(
    ['.gitignore', 'a\nb\nc\n'],
    ['.ignore', '!a\n!b\n'],
    ['.fdignore', 'a\n'],
    'a/SKILL.md',
    'b/SKILL.md',
    'c/SKILL.md',
  );

  expect((await find()).files).toEqual(['b/SKILL.md']);
});

it('links are followed, and a ring of links is searched once', async () => {
  const { root, find } = folderWith('real/SKILL.md', 'a/b/file.txt');
  const elsewhere = tempFolder();
  mkdirSync(join(elsewhere, 'far'));
  writeFileSync(join(elsewhere, 'far', 'SKILL.md'), '');
  writeFileSync(join(elsewhere, 'file.md'), '');
  symlinkSync(root, join(root, 'a', 'b', 'up'));
  symlinkSync('..', join(root, 'a', 'parent'));
  symlinkSync(elsewhere, join(root, 'link'));
  symlinkSync(join(elsewhere, 'file.md'), join(root, 'linked.md'));
  symlinkSync('self', join(root, 'self'));

  expect(await find()).toEqual({ files: ['link/far/SKILL.md', 'linked.md', 'real/SKILL.md'], warnings: [] });
});

it('an unreadable folder gives a warning', async () => {
  const { root, find } = folderWith('closed/a/SKILL.md', 'open/SKILL.md');
  chmodSync(join(root, 'closed'), 0o000);
  const { files, warnings } = await find();
  chmodSync(join(root, 'closed'), 0o700);

  const mayReadAll = process.getuid?.() === 0;
  expect(files).toEqual(mayReadAll ? ['closed/a/SKILL.md', 'open/SKILL.md'] : ['open/SKILL.md']);
  expect(warnings).toEqual(mayReadAll ? [] : [expect.stringContaining('closed is not searched for skills: EACCES')]);
});

it('a folder that is too deep is skipped with a warning', async () => {
  const deepest = 'd/'.repeat(MAX_SKILL_DEPTH);
  const { find } = folderWith(`${deepest}SKILL.md`, `${'e/'.repeat(MAX_SKILL_DEPTH + 1)}SKILL.md`);

  const { files, warnings } = await find();

  expect(files).toEqual([`${deepest}SKILL.md`]);
  expect(warnings).toEqual([
    expect.stringMatching(`/e is not searched for skills: .* ${MAX_SKILL_DEPTH} folders deep`),
  ]);
});

it('too many names end the search with one warning, and earlier skills are kept', async () => {
  const { root, find } = folderWith('a/SKILL.md', 'y/z/SKILL.md', 'z/SKILL.md');
  mkdirSync(join(root, 'many'));
  for (let count = 0; count < MAX_NAMES; count++) symlinkSync('x', join(root, 'many', `n${count}`));

  const { files, warnings } = await find();

  expect(files).toEqual(['a/SKILL.md']);
  expect(warnings).toEqual([`${root} holds more than ${MAX_NAMES} names: not all of it is searched for skills`]);
});
