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

  box.putOwn([tool('grep', 'another'), tool('ls')]);
  expect(box.active.map(({ description }) => description)).toEqual(['another']);
  box.putOwn(builtins);

  expect(box.activeNames).toEqual(['read', 'grep']);
});

it('remembers which words meant no tool', () => {
  expect(new Toolbox(builtins, { wanted: ['read', 'fly'] }).unknown).toEqual(['fly']);
});

it.each([
  [{}, true],
  [{ wanted: ['+bash'] }, true],
  [{ excluded: ['bash'] }, true],
  [{ wanted: ['read', 'bash'] }, false],
  [{ wanted: ['-grep'] }, false],
  [{ wanted: [] }, false],
  [{ excluded: ['gr*'] }, false],
])('a tool offers itself where the choice %j leaves it free to: %s', (choice, isOffered) => {
  const box = new Toolbox([tool('read'), tool('bash'), tool('grep')], choice);
  let isWanted = false;
  const before = box.activeNames;

  box.offerWhile('grep', () => isWanted);
  expect(box.activeNames).toEqual(before);
  isWanted = true;

  expect(box.activeNames.includes('grep')).toBe(isOffered);
  expect(box.describe().find(({ name }) => name === 'grep')?.active).toBe(box.activeNames.includes('grep'));
  isWanted = false;
  expect(box.activeNames).toEqual(before);
});

it('a choice by name ends what offered itself, and keeps what it names', () => {
  const box = new Toolbox(builtins, {});
  let isWanted = true;
  box.offerWhile('grep', () => isWanted);

  box.activate(['read']);
  expect(box.activeNames).toEqual(['read']);
  box.activate(['read', 'grep']);
  isWanted = false;

  expect(box.activeNames).toEqual(['read', 'grep']);
});
