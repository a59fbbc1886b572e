import { expect, it } from 'vitest';
import { chooseTools } from './tool-choice.ts';

const names = ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls', 'mcp.query'];

it.each([
  ['the usual ones', {}, ['read', 'bash', 'edit', 'write']],
  ['none', { wanted: [] }, []],
  ['these, in their own order', { wanted: ['ls', 'read'] }, ['read', 'ls']],
  ['all', { wanted: ['*'] }, names],
  ['a pattern', { wanted: ['mcp.*', 'gr*'] }, ['grep', 'mcp.query']],
  ['more than usual', { wanted: ['+grep', '+ls'] }, ['read', 'bash', 'edit', 'write', 'grep', 'ls']],
  ['less than usual', { wanted: ['-bash'] }, ['read', 'edit', 'write']],
  [
    'these but not those',
    { wanted: ['*', '-mcp.*'], excluded: ['bash'] },
    ['read', 'edit', 'write', 'grep', 'find', 'ls'],
  ],
  ['usual but not those', { excluded: ['write', 'edit'] }, ['read', 'bash']],
])('%s', (_title, choice, chosen) => {
  expect(chooseTools(names, choice)).toEqual({ chosen, unknown: [] });
});

it('says which words mean no tool', () => {
  expect(chooseTools(names, { wanted: ['read', 'mcpXquery'], excluded: ['fly'] })).toEqual({
    chosen: ['read'],
    unknown: ['mcpXquery', 'fly'],
  });
});
