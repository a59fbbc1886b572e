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

it('a toolbox offers the default tools and describes all of them', () => {
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

it('activate offers exactly the named tools, once, in toolbox order', () => {
  const box = new Toolbox(builtins, {});

  box.activate(['grep', 'read', 'grep']);
  expect(box.active.map(({ name }) => name)).toEqual(['read', 'grep']);
  box.activate([]);
  expect(box.active).toEqual([]);
});

it('activate with an unknown name changes nothing and names the unknown ones', () => {
  const box = new Toolbox(builtins, {});

  expect(() => box.activate(['read', 'fly', 'swim'])).toThrow('No such tool: fly, swim');
  expect(() => box.activate(['__proto__'])).toThrow('No such tool');

  expect(box.activeNames).toEqual(['read', 'bash', 'edit', 'write']);
});

it('setBuiltins replaces the built-in tools and keeps activation by name', () => {
  const box = new Toolbox(builtins, { patterns: ['read', 'grep'] });

  box.setBuiltins([tool('grep', 'another'), tool('ls')]);
  expect(box.active.map(({ description }) => description)).toEqual(['another']);
  box.setBuiltins(builtins);

  expect(box.activeNames).toEqual(['read', 'grep']);
});

it('setTools keeps activation by name and offers new tools as isOffered decides', () => {
  const box = new Toolbox(builtins, { patterns: ['read'] });

  box.setTools('host', [tool('a'), tool('b'), tool('quiet')], {
    isOffered: (name) => name !== 'quiet',
    ignoreChoice: true,
  });
  expect(box.activeNames).toEqual(['read', 'a', 'b']);
  box.activate(['read', 'b', 'quiet']);
  box.setTools('host', [tool('a'), tool('quiet'), tool('c')], { ignoreChoice: true });
  expect(box.activeNames).toEqual(['read', 'quiet', 'c']);
  box.setTools('host', []);
  box.setTools('host', [tool('quiet'), tool('b')], { isOffered: (name) => name !== 'quiet', ignoreChoice: true });

  expect(box.activeNames).toEqual(['read', 'b']);
  expect([box.sourceOf('b'), box.sourceOf('grep'), box.sourceOf('c')]).toEqual(['host', 'builtin', undefined]);
});

it('patterns that match no tool are listed as unknown', () => {
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
])('a conditional tool is offered under the choice %j: %s', (choice, isOffered) => {
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

it('activate ends conditional offers and keeps the tools it names', () => {
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
])('of tools added later a toolbox offers %s, as its choice says', (_title, choice, offered) => {
  const box = new Toolbox(builtins, choice);

  box.setTools('mcp', others);

  expect(box.activeNames).toEqual(offered);
});

it('a deactivated tool stays inactive when it is added again, and a new tool is active', () => {
  const box = new Toolbox(builtins, {});
  box.setTools('mcp', others.slice(0, 2), { keepActivation: true });
  box.activate(['read', 'fs__read']);

  box.setTools('mcp', [], { keepActivation: true });
  expect(box.activeNames).toEqual(['read']);
  box.setTools('mcp', others, { keepActivation: true });

  expect(box.activeNames).toEqual(['read', 'fs__read', 'web__get']);
});

it('a tool of an MCP server gives way to any other tool of its name, in any order', () => {
  const box = new Toolbox(builtins, {});
  box.setTools('mcp', [tool('read', 'theirs'), tool('fs__read', 'theirs')]);
  box.setTools('host', [tool('fs__read', "the client's")]);

  expect(box.active.map(({ description }) => description)).toEqual(['read', 'bash', 'edit', 'write', "the client's"]);
  expect([box.sourceOf('read'), box.sourceOf('fs__read'), box.sourceOf('fly')]).toEqual(['builtin', 'host', undefined]);
});
