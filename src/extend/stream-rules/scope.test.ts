import { expect, it } from 'vitest';
import { anyGlobTest, coversCall, parseScope, splitList } from './scope.ts';

const watches = (terms: string[], tool: string, path: string | null | undefined, globs?: string[]) =>
  coversCall({ scope: parseScope(terms), paths: globs && anyGlobTest(globs) }, { tool, path });

it.each([
  [['tool'], 'bash', null, true],
  [['toolcall'], 'bash', undefined, true],
  [['text'], 'bash', null, false],
  [['edit'], 'edit', undefined, true],
  [['edit'], 'write', undefined, false],
  [['tool:edit'], 'edit', null, true],
  [['edit(*.ts)'], 'edit', undefined, undefined],
  [['edit(*.ts)'], 'write', undefined, false],
  [['edit(*.ts)'], 'edit', 'src/a.ts', true],
  [['edit(*.ts)'], 'edit', 'src/a.js', false],
  [['edit(*.ts)'], 'edit', null, false],
  [['edit(*.ts)', 'edit(src/**)'], 'edit', 'src/a.js', true],
  [['edit(*.{js,ts},*.vue)'], 'edit', 'a.vue', true],
  [['tool:write(*.rs)'], 'write', 'a.rs', true],
  [['tool(*.md)'], 'anything', 'a.md', true],
  [['mcp__server__put-it'], 'mcp__server__put-it', null, true],
])('%j covers %s with path %s: %s', (terms, tool, path, expected) => {
  expect(watches(terms, tool, path)).toBe(expected);
});

it.each([
  [['tool'], 'src/a.ts', true],
  [['tool'], 'src/a.js', false],
  [['tool'], null, false],
  [['tool'], undefined, undefined],
  [['tool(test/**)'], 'src/a.ts', false],
  [['tool(src/**)'], 'src/a.ts', true],
])('globs narrow %j with path %s: %s', (terms, path, expected) => {
  expect(watches(terms, 'edit', path, ['*.ts'])).toBe(expected);
});

it.each(['', 'te xt', 'edit(', 'edit()', 'tool:', 'text(*.ts)', 'thinking(x)', '*'])('%j is invalid', (term) => {
  expect(() => parseScope([term])).toThrow(`the scope ${term} is not known`);
});

it('commas separate items, but not within brackets', () => {
  expect(splitList(' text, edit(*.ts,*.tsx) ,*.{a,b},, [x,y]z ')).toEqual([
    'text',
    'edit(*.ts,*.tsx)',
    '*.{a,b}',
    '[x,y]z',
  ]);
});
