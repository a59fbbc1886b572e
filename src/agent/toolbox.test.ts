import { expect, it } from 'vitest';
import { type Tool, textOutput } from './tool.ts';
import { Toolbox } from './toolbox.ts';

const tool = (name: string, description = name): Tool => ({
  name,
  description,
  parameters: { type: 'object' },
  execute: async () => textOutput(''),
});

const builtins = ['read', 'bash', 'edit', 'write', 'grep'].map((name) => tool(name));

it('offers the usual tools, and tells of all', () => {
  const box = new Toolbox(builtins, {});

  expect(box.activeNames).toEqual(['read', 'bash', 'edit', 'write']);
  expect(box.describe().map(({ name, active, source }) => `${source} ${name} ${active}`)).toEqual([
    'builtin read true',
    'builtin bash true',
    'builtin edit true',
    'builtin write true',
    'builtin grep false',
  ]);
});

it('offers what it is told, once and in the order of the tools', () => {
  const box = new Toolbox(builtins, {});

  box.activate(['grep', 'read', 'grep']);
  expect(box.active.map(({ name }) => name)).toEqual(['read', 'grep']);
  box.activate([]);
  expect(box.active).toEqual([]);
});

it('changes nothing where one name is unknown, and names those that are', () => {
  const box = new Toolbox(builtins, {});

  expect(() => box.activate(['read', 'fly', 'swim'])).toThrow('No such tool: fly, swim');
  expect(() => box.activate(['__proto__'])).toThrow('No such tool');

  expect(box.activeNames).toEqual(['read', 'bash', 'edit', 'write']);
});

it('new tools take the place of the old ones; what was active by name stays so', () => {
  const box = new Toolbox(builtins, { patterns: ['read', 'grep'] });

  box.setBuiltins([tool('grep', 'another'), tool('ls')]);
  expect(box.active.map(({ description }) => description)).toEqual(['another']);
  box.setBuiltins(builtins);

  expect(box.activeNames).toEqual(['read', 'grep']);
});

it('what is replaced stays offered or not by its name; what is new is offered where that is wanted', () => {
  const box = new Toolbox(builtins, { patterns: ['read'] });

  box.setTools('host', [tool('a'), tool('b'), tool('quiet')], { isOffered: (name) => name !== 'quiet', ignoreChoice: true });
  expect(box.activeNames).toEqual(['read', 'a', 'b']);
  box.activate(['read', 'b', 'quiet']);
  box.setTools('host', [tool('a'), tool('quiet'), tool('c')], { ignoreChoice: true });
  expect(box.activeNames).toEqual(['read', 'quiet', 'c']);
  box.setTools('host', []);
  box.setTools('host', [tool('quiet'), tool('b')], { isOffered: (name) => name !== 'quiet', ignoreChoice: true });

  expect(box.activeNames).toEqual(['read', 'b']);
  expect([box.sourceOf('b'), box.sourceOf('grep'), box.sourceOf('c')]).toEqual(['host', 'builtin', undefined]);
});

it('remembers which words meant no tool', () => {
  expect(new Toolbox(builtins, { patterns: ['read', 'fly'] }).unknownPatterns).toEqual(['fly']);
});

it.each([
  [{}, true],
  [{ patterns: ['+bash'] }, true],
  [{ excluded: ['bash'] }, true],
  [{ patterns: ['read', 'bash'] }, false],
  [{ patterns: ['-grep'] }, false],
  [{ patterns: [] }, false],
  [{ excluded: ['gr*'] }, false],
])('a tool offers itself where the choice %j leaves it free to: %s', (choice, isOffered) => {
  const box = new Toolbox([tool('read'), tool('bash'), tool('grep')], choice);
  let condition = false;
  const before = box.activeNames;

  box.offerWhile('grep', () => condition);
  expect(box.activeNames).toEqual(before);
  condition = true;

  expect(box.activeNames.includes('grep')).toBe(isOffered);
  expect(box.describe().find(({ name }) => name === 'grep')?.active).toBe(box.activeNames.includes('grep'));
  condition = false;
  expect(box.activeNames).toEqual(before);
});

it('a choice by name ends what offered itself, and keeps what it names', () => {
  const box = new Toolbox(builtins, {});
  let condition = true;
  box.offerWhile('grep', () => condition);

  box.activate(['read']);
  expect(box.activeNames).toEqual(['read']);
  box.activate(['read', 'grep']);
  condition = false;

  expect(box.activeNames).toEqual(['read', 'grep']);
});

const others = ['fs__read', 'fs__write', 'web__get'].map((name) => tool(name));

it.each([
  ['all', {}, ['read', 'bash', 'edit', 'write', 'fs__read', 'fs__write', 'web__get']],
  ['all but those', { excluded: ['fs__*', 'bash'] }, ['read', 'edit', 'write', 'web__get']],
  ['these and no others', { patterns: ['read', 'fs__r*'] }, ['read', 'fs__read']],
  [
    'more or less than usual',
    { patterns: ['+grep', '-web__*'] },
    ['read', 'bash', 'edit', 'write', 'grep', 'fs__read', 'fs__write'],
  ],
  ['none', { patterns: [] }, []],
  ["all, and none of tau's own", { builtin: false }, ['fs__read', 'fs__write', 'web__get']],
])('of tools that come later it offers %s, as it was told', (_title, choice, offered) => {
  const box = new Toolbox(builtins, choice);

  box.setTools('mcp', others);

  expect(box.activeNames).toEqual(offered);
});

it('what was switched off stays off when it comes again, and what is new is on', () => {
  const box = new Toolbox(builtins, {});
  box.setTools('mcp', others.slice(0, 2), { keepActivation: true });
  box.activate(['read', 'fs__read']);

  box.setTools('mcp', [], { keepActivation: true });
  expect(box.activeNames).toEqual(['read']);
  box.setTools('mcp', others, { keepActivation: true });

  expect(box.activeNames).toEqual(['read', 'fs__read', 'web__get']);
});

it('a tool of an MCP server gives way to any other of its name, whoever came first', () => {
  const box = new Toolbox(builtins, {});
  box.setTools('mcp', [tool('read', 'theirs'), tool('fs__read', 'theirs')]);
  box.setTools('host', [tool('fs__read', "the client's")]);

  expect(box.active.map(({ description }) => description)).toEqual(['read', 'bash', 'edit', 'write', "the client's"]);
  expect([box.sourceOf('read'), box.sourceOf('fs__read'), box.sourceOf('fly')]).toEqual(['builtin', 'host', undefined]);
});
