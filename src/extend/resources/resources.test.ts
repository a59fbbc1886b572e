import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { MAX_PER_KIND } from './gather.ts';
import { MAX_WARNINGS } from './resources.ts';
import { MAX_NAMES } from './skill-files.ts';
import { skill, userWith } from './testing/user-with.ts';

it('without any files there are no commands, warnings or hooks', async () => {
  const { resources } = await userWith({}).load();

  expect(resources).toMatchObject({ hooks: {}, warnings: [], commands: [], listings: [] });
});

it("skills come from pi's locations; the project's are listed first, then the user's, then the named ones", async () => {
  const { root, load } = userWith({
    'home/.pi/agent/skills/one/SKILL.md': skill('one'),
    'home/.agents/skills/two/SKILL.md': skill('two'),
    'repo/inner/.pi/skills/three/SKILL.md': skill('three'),
    'repo/inner/.pi/agent/skills/four/SKILL.md': skill('four'),
    'repo/inner/.agents/skills/five/SKILL.md': skill('five'),
    'repo/.agents/skills/six/SKILL.md': skill('six'),
    '.agents/skills/above/SKILL.md': skill('above'),
    'named/folder/seven/SKILL.md': skill('seven'),
    'named/eight/SKILL.md': skill('eight'),
    'named/nine.md': skill('nine'),
    'home/named/ten/SKILL.md': skill('ten'),
  });
  const named = [join(root, 'named/folder'), '../../named/eight', join(root, 'named/nine.md'), '~/named/ten'];

  const { resources, found, warnings } = await load({ skillPaths: named });

  const names = ['three', 'four', 'five', 'six', 'one', 'two', 'seven', 'eight', 'nine', 'ten'];
  expect(found.map(([name]) => name)).toEqual(names.map((name) => `skill:${name}`));
  expect(resources.commands.map(({ location }) => location).join(' ')).toBe(
    'project project project project user user path path path path',
  );
  expect(warnings).toEqual([]);
});

it('outside of a repository the parent folders are not searched', async () => {
  const { root, load } = userWith({ 'repo/.agents/skills/six/SKILL.md': skill('six') });
  rmSync(join(root, 'repo/.git'), { recursive: true });

  expect((await load()).found).toEqual([]);
});

it("templates come from pi's locations, without subfolders", async () => {
  const { root, load } = userWith({
    'home/.pi/agent/prompts/one.md': 'One',
    'home/.pi/agent/prompts/deeper/no.md': 'No',
    'home/.pi/agent/prompts/no.txt': 'No',
    'home/.pi/agent/prompts/.no.md': 'No',
    'repo/inner/.pi/prompts/two.md': 'Two',
    'repo/inner/.pi/agent/prompts/three.md': 'Three',
    'named/four.md': 'Four',
    'named/five.md': 'Five',
    'named/deeper/no.md': 'No',
  });
  symlinkSync(join(root, 'named/five.md'), join(root, 'home/.pi/agent/prompts/linked.md'));
  mkdirSync(join(root, 'named/folder.md'));

  const { found, warnings } = await load({ promptPaths: ['../../named'] });

  expect(found).toEqual([
    ['two', 'repo/inner/.pi/prompts/two.md'],
    ['three', 'repo/inner/.pi/agent/prompts/three.md'],
    ['linked', 'home/.pi/agent/prompts/linked.md'],
    ['one', 'home/.pi/agent/prompts/one.md'],
    ['four', 'named/four.md'],
  ]);
  expect(warnings).toEqual([]);
});

it('without discovery only the named paths are used', async () => {
  const { load } = userWith({
    'home/.pi/agent/skills/one/SKILL.md': skill('one'),
    'home/.pi/agent/prompts/one.md': 'One',
    'named/two/SKILL.md': skill('two'),
    'named/two.md': 'Two',
  });

  const { found } = await load({
    findSkills: false,
    findTemplates: false,
    skillPaths: ['../../named/two'],
    promptPaths: ['../../named/two.md'],
  });

  expect(found).toEqual([
    ['two', 'named/two.md'],
    ['skill:two', 'named/two/SKILL.md'],
  ]);
});

it('of two resources with one name the first is used, with a warning', async () => {
  const { load } = userWith({
    'home/.pi/agent/skills/one/SKILL.md': skill('one'),
    'repo/inner/.pi/skills/one/SKILL.md': skill('one'),
    'home/.pi/agent/prompts/one.md': 'One',
    'repo/inner/.pi/prompts/one.md': 'Another',
  });

  const { found, warnings } = await load();

  expect(found).toEqual([
    ['one', 'home/.pi/agent/prompts/one.md'],
    ['skill:one', 'home/.pi/agent/skills/one/SKILL.md'],
  ]);
  expect(warnings).toEqual([
    'repo/inner/.pi/prompts/one.md is left out: home/.pi/agent/prompts/one.md has the name one already',
    'repo/inner/.pi/skills/one/SKILL.md is left out: home/.pi/agent/skills/one/SKILL.md has the name one already',
  ]);
});

it('a file reached by several paths is used once, without a warning', async () => {
  const { root, load } = userWith({ 'home/.pi/agent/skills/one/SKILL.md': skill('one') });
  mkdirSync(join(root, 'home/.agents'));
  symlinkSync('../.pi/agent/skills', join(root, 'home/.agents/skills'));

  const { found, warnings } = await load({ cwd: join(root, 'home'), skillPaths: ['.pi/agent/skills/one'] });

  expect(found).toEqual([['skill:one', 'home/.pi/agent/skills/one/SKILL.md']]);
  expect(warnings).toEqual([]);
});

it('[U34] a skill that was replaced by a link to a hidden file is not read again', async () => {
  const { root, write, load, failures } = userWith({
    'repo/inner/.agents/skills/one/SKILL.md': skill('one'),
    'home/.pi/agent/auth.json': 'a key',
  });
  const { say } = await load({ trusted: true });
  const path = join(root, 'repo/inner/.agents/skills/one/SKILL.md');
  const before = await say('/skill:one');
  rmSync(path);
  symlinkSync(join(root, 'home/.pi/agent/auth.json'), path);
  const after = await say('/skill:one').catch(() => undefined);
  rmSync(path);
  write('repo/inner/.agents/skills/one/SKILL.md', skill('one'));

  expect(before).toContain('Do it.');
  expect(JSON.stringify([after, failures])).not.toContain('a key');
  expect(await say('/skill:one')).toContain('Do it.');
});

it('a named path that is missing or unusable gives a warning', async () => {
  const { load } = userWith({ 'named/notes.txt': skill('notes'), 'named/readme.md': 'Read me.' });

  const { found, warnings } = await load({
    skillPaths: ['nowhere', '../../named/notes.txt', '../../named/readme.md', '/dev/null'],
    promptPaths: ['nowhere.md'],
  });

  expect(found).toEqual([]);
  expect(warnings).toEqual([
    'repo/inner/nowhere.md is left out of the prompt templates: it is not there',
    'repo/inner/nowhere is left out of the skills: it is not there',
    'named/notes.txt is left out of the skills: it is no .md file',
    'named/readme.md is left out: it has no description',
    '/dev/null is left out of the skills: it is no .md file',
  ]);
});

it.each([
  '',
  'skill:a',
  ' /skill:a',
  '/skill:A',
  '/skill:ab',
  '/skill:',
  '/skill',
  '/',
  '/unknown x',
  'say /fix',
  '/fix-it',
  '//fix',
])('%j invokes no command', async (text) => {
  const { load, failures } = userWith({
    'home/.pi/agent/skills/a/SKILL.md': skill('a'),
    'home/.pi/agent/prompts/fix.md': 'Fix $1',
  });

  expect(await (await load()).say(text)).toBeUndefined();
  expect(failures).toEqual([]);
});

it('a file is read when its command is invoked', async () => {
  const { root, write, load, failures } = userWith({
    'home/.pi/agent/skills/a/SKILL.md': skill('a', 'Old.'),
    'home/.pi/agent/prompts/fix.md': 'Old $1',
  });
  const { say: expand } = await load();
  write('home/.pi/agent/skills/a/SKILL.md', skill('a', 'New.'));
  write('home/.pi/agent/prompts/fix.md', '---\nbroken: [\n---\nNew $1');

  expect(await expand('/skill:a')).toContain('\n\nNew.\n</skill>');
  expect(await expand('/fix it')).toBe('New it');

  rmSync(join(root, 'home/.pi/agent/skills/a/SKILL.md'));
  rmSync(join(root, 'home/.pi/agent/prompts/fix.md'));
  execFileSync('mkfifo', [join(root, 'home/.pi/agent/prompts/fix.md')]);

  expect(await expand('/skill:a')).toBeUndefined();
  expect(await expand('/fix it')).toBeUndefined();
  expect(failures).toMatchObject([
    [join(root, 'home/.pi/agent/skills/a/SKILL.md'), 'skill_expansion', { code: 'ENOENT' }],
    [
      join(root, 'home/.pi/agent/prompts/fix.md'),
      'template_expansion',
      { message: expect.stringContaining('Not a file') },
    ],
  ]);
});

it('a warning is one line without control characters', async () => {
  const { resources } = await userWith({ 'home/.pi/agent/skills/a/SKILL.md': skill('"a\\nb\\e[2J"') }).load();

  expect(resources.warnings.join()).not.toMatch(/\p{Cc}/u);
  expect(resources.warnings).toContainEqual(expect.stringContaining('its name, a\\nb\\x1b[2J, is not'));
});

it('warnings above the limit are counted', async () => {
  const skillPaths = Array.from({ length: MAX_WARNINGS + 5 }, (_, index) => `nowhere${index}`);

  const { warnings } = await userWith({}).load({ skillPaths });

  expect(warnings).toHaveLength(MAX_WARNINGS + 1);
  expect(warnings.at(-1)).toBe('5 more skills and prompt templates have something wrong with them');
});

it('templates above the limit give a warning', async () => {
  const files = Array.from({ length: MAX_PER_KIND + 2 }, (_, index) => [
    `home/.pi/agent/prompts/${1000 + index}.md`,
    'Words',
  ]);

  const { found, warnings } = await userWith(Object.fromEntries(files)).load();

  expect(found).toHaveLength(MAX_PER_KIND);
  expect(warnings).toEqual([
    `home/.pi/agent/prompts/1500.md and all after it are left out: there are more than ${MAX_PER_KIND} prompt templates`,
  ]);
});

it('a folder with too many names yields no templates but a warning', async () => {
  const { root, load } = userWith({ 'home/.pi/agent/prompts/fix.md': 'Fix' });
  for (let count = 0; count < MAX_NAMES; count++) symlinkSync('x', join(root, `home/.pi/agent/prompts/n${count}`));

  const { found, warnings } = await load();

  expect(found).toEqual([]);
  expect(warnings).toEqual([
    `home/.pi/agent/prompts is left out of the prompt templates: it holds more than ${MAX_NAMES} names`,
  ]);
});
