import { expect, it } from 'vitest';
import { ExtensionMcpServers } from './extension-servers.ts';

const first = { path: '/ext/first.ts' };
const second = { path: '/ext/second.ts' };

it('servers of extensions are listed with their extension and removed with it', () => {
  let changes = 0;
  const servers = new ExtensionMcpServers(() => changes++);

  servers.register(first, 'a', { command: 'one' });
  servers.register(second, 'b', { url: 'http://127.0.0.1:1/mcp' });
  servers.removeAll(first);

  expect(servers.list()).toEqual([
    { name: 'b', config: { url: 'http://127.0.0.1:1/mcp' }, extensionPath: second.path },
  ]);
  expect([...servers.entries.keys()]).toEqual(['b']);
  expect(changes).toBe(3);
});

it('a reloaded extension keeps the servers that its new load has registered', () => {
  const servers = new ExtensionMcpServers(() => {});
  const reloaded = { path: first.path };

  servers.register(first, 'a', { command: 'old' });
  servers.register(reloaded, 'a', { command: 'new' });
  servers.removeAll(first);

  expect(servers.list()).toMatchObject([{ name: 'a', config: { command: 'new' } }]);
});

it('an extension cannot replace or remove the server of another one, and an invalid server is refused', () => {
  const servers = new ExtensionMcpServers(() => {});
  servers.register(first, 'a', { command: 'one' });

  expect(() => servers.register(second, 'a', { command: 'two' })).toThrow('already registered by /ext/first.ts');
  expect(() => servers.register(second, 'b', {})).toThrow('mcpServers.b needs a command or a url');
  servers.unregister(second, 'a');

  expect(servers.list()).toMatchObject([{ name: 'a', config: { command: 'one' } }]);
});
