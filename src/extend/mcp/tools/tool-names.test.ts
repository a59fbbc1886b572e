import fc from 'fast-check';
import { expect, it } from 'vitest';
import { toolName } from './server-tool.ts';

it.each([
  ['fs', 'read_file', 'fs__read_file'],
  ['my server', 'a/b.c', 'my_server__a_b_c'],
  ['7zip', 'list', '_7zip__list'],
  ['-x', 'y', '_-x__y'],
  ['größe', '读', 'gr__e___'],
  ['s', 'x'.repeat(100), `s__${'x'.repeat(61)}`],
])('%s and %s become %s', (server, tool, name) => {
  expect(toolName(server, tool, () => false)).toBe(name);
});

it('equal names get numbers', () => {
  const names = new Set<string>();
  for (const tool of ['a.b', 'a/b', 'a_b', 'a b']) names.add(toolName('s', tool, (name) => names.has(name)));

  expect([...names]).toEqual(['s__a_b', 's__a_b_2', 's__a_b_3', 's__a_b_4']);
});

it('every name is unique and valid for all providers', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.string({ unit: 'grapheme', size: '+1' })),
      (server, tools) => {
        const names = new Set<string>();
        for (const tool of tools) names.add(toolName(server, tool, (name) => names.has(name)));
        expect(names.size).toBe(tools.length);
        for (const name of names) expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/);
      },
    ),
  );
});
