import { expect, it } from 'vitest';
import { BUILTIN_TOOL_NAMES, builtinTools } from '../agent/tools/builtin-tools.ts';
import { resolveTools } from './tool-options.ts';

const tool = (name: string) => ({ name, description: name, parameters: {}, execute: async () => ({ content: [] }) });

it('BUILTIN_NAMES lists every built-in tool', () => {
  const own = builtinTools({ cwd: '/', env: {}, family: 'x' }, async () => ({ content: [] }));

  expect(BUILTIN_TOOL_NAMES).toEqual(own.map(({ name }) => name));
});

it.each([
  [{}, undefined],
  [{ tools: ['read', 'x*'] }, ['read', 'x*']],
  [{ tools: [] }, []],
  [{ tools: ['read'], noTools: 'all' as const }, ['read']],
  [{ noTools: 'all' as const }, []],
  [{ tools: ['read', 'bash', 'edit', 'write', 'mine'].map(tool) }, undefined],
  [{ tools: ['read', 'ls', 'mine'].map(tool) }, ['+ls', '-bash', '-edit', '-write']],
  [{ tools: ['grep', tool('mine')] }, ['grep', 'mine']],
])('%j resolves to the selection %j', (options, selection) => {
  expect(resolveTools(options).choice.patterns).toEqual(selection);
});

it('only tools that are not built in become an extension', () => {
  const registered: string[] = [];
  const { factories } = resolveTools({ tools: [tool('read'), tool('mine')], customTools: [tool('bash')] });

  for (const factory of factories.values())
    factory({ registerTool: ({ name }: { name: string }) => registered.push(name) } as never);

  expect(registered).toEqual(['bash', 'mine']);
  expect(resolveTools({ tools: ['read'] }).factories.size).toBe(0);
});
