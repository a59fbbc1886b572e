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
  const box = new Toolbox(builtins, { wanted: ['read', 'grep'] });

  box.put('builtin', [tool('grep', 'another'), tool('ls')]);
  expect(box.active.map(({ description }) => description)).toEqual(['another']);
  box.put('builtin', builtins);

  expect(box.activeNames).toEqual(['read', 'grep']);
});

it('what is replaced stays offered or not by its name; what is new is offered where that is wanted', () => {
  const box = new Toolbox(builtins, { wanted: ['read'] });

  box.replace('host', [tool('a'), tool('b'), tool('quiet')], (name) => name !== 'quiet');
  expect(box.activeNames).toEqual(['read', 'a', 'b']);
  box.activate(['read', 'b', 'quiet']);
  box.replace('host', [tool('a'), tool('quiet'), tool('c')], () => true);
  expect(box.activeNames).toEqual(['read', 'quiet', 'c']);
  box.replace('host', [], () => true);
  box.replace('host', [tool('quiet'), tool('b')], (name) => name !== 'quiet');

  expect(box.activeNames).toEqual(['read', 'b']);
  expect([box.sourceOf('b'), box.sourceOf('grep'), box.sourceOf('c')]).toEqual(['host', 'builtin', undefined]);
});

it('remembers which words meant no tool', () => {
  expect(new Toolbox(builtins, { wanted: ['read', 'fly'] }).unknown).toEqual(['fly']);
});
