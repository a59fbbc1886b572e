import { expect, it } from 'vitest';
import { chooseTools } from './tool-choice.ts';

const names = ['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls', 'mcp.query'];

it.each([
  ['the usual ones', {}, ['read', 'bash', 'edit', 'write']],
  ['none', { patterns: [] }, []],
  ['these, in their own order', { patterns: ['ls', 'read'] }, ['read', 'ls']],
  ['all', { patterns: ['*'] }, names],
  ['a pattern', { patterns: ['mcp.*', 'gr*'] }, ['grep', 'mcp.query']],
  ['more than usual', { patterns: ['+grep', '+ls'] }, ['read', 'bash', 'edit', 'write', 'grep', 'ls']],
  ['less than usual', { patterns: ['-bash'] }, ['read', 'edit', 'write']],
  [
    'these but not those',
    { patterns: ['*', '-mcp.*'], excluded: ['bash'] },
    ['read', 'edit', 'write', 'grep', 'find', 'ls'],
  ],
  ['usual but not those', { excluded: ['write', 'edit'] }, ['read', 'bash']],
])('%s', (_title, choice, chosen) => {
  expect(chooseTools(names, choice)).toEqual({ chosen, unknown: [] });
});

it('patterns that match no tool are returned as unknown', () => {
  expect(chooseTools(names, { patterns: ['read', 'mcpXquery'], excluded: ['fly'] })).toEqual({
    chosen: ['read'],
    unknown: ['mcpXquery', 'fly'],
  });
});

it('[N69] tools of MCP servers are also matched under the names that pi gives them, and no others', () => {
  const tools = ['read', 'mcp_note', 'my-fs__get-page', 'web__search'];
  const chosen = (...patterns: string[]) => chooseTools(tools, { patterns });

  expect(chosen('mcp__my_fs__get_page')).toEqual({ chosen: ['my-fs__get-page'], unknown: [] });
  expect(chosen('read', 'mcp__*')).toEqual({ chosen: ['read', 'my-fs__get-page', 'web__search'], unknown: [] });
  expect(chosen('mcp__read')).toEqual({ chosen: [], unknown: ['mcp__read'] });
  expect(chooseTools(tools, { patterns: ['*'], excluded: ['mcp__web__*'] }).chosen).toEqual(tools.slice(0, 3));
});
