import { join } from 'node:path';
import { expect, it } from 'vitest';
import { skill, userWith } from './testing/user-with.ts';

it('settings exclude paths and patterns, and include single paths again', async () => {
  const { root, load } = userWith(
    Object.fromEntries(
      ['a', 'b', 'old-1', 'old-2', 'group/old-3', 'group/d'].map((name) => [
        `home/.pi/agent/skills/${name}/SKILL.md`,
        skill(name.slice(-1)),
      ]),
    ),
  );
  const at = (name: string) => join(root, 'home/.pi/agent/skills', name);
  const names = async (...skillPaths: string[]) =>
    (await load({ skillPaths })).found.map(([, path]) => path?.slice(22));

  expect(await names(`-${at('a')}`, `-${at('b/SKILL.md')}`, `-${at('group')}`)).toEqual([
    'old-1/SKILL.md',
    'old-2/SKILL.md',
  ]);
  expect(await names('!old-*', `+${at('old-2')}`)).toEqual([
    'a/SKILL.md',
    'b/SKILL.md',
    'group/d/SKILL.md',
    'old-2/SKILL.md',
  ]);
  expect(await names(`!${at('old-*')}`, `!${at('{a,b}')}`)).toEqual(['group/d/SKILL.md', 'group/old-3/SKILL.md']);
  expect(await names(`!${at('group/*')}/`, '!old-*')).toEqual(['a/SKILL.md', 'b/SKILL.md']);
  expect(await names('!**')).toEqual([]);
});
