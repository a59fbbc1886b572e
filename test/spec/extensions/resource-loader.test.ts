import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEventBus } from '../../../src/extend/extensions/api/event-bus.ts';
import { DefaultResourceLoader, type DefaultResourceLoaderOptions, type ExtensionAPI } from '../../../src/index.ts';
import { createTestSession } from '../../support/agent/agent-session.ts';
import { newHome } from '../../support/agent/test-agent.ts';

async function loadInline(
  factory: (pi: ExtensionAPI) => unknown,
  options: Partial<DefaultResourceLoaderOptions> = {},
  home = newHome(),
) {
  const { cwd, agentDir } = home;
  const extensionFactories = [{ name: 'early', factory: async (pi: ExtensionAPI) => void (await factory(pi)) }];
  const loader = new DefaultResourceLoader({ cwd, agentDir, noExtensions: true, extensionFactories, ...options });
  await loader.reload();
  return { loader, home };
}

it('[X92] extensions use MCP servers and programs while they load, and their agent gets the servers', async () => {
  const home = newHome();
  let api: ExtensionAPI | undefined;
  const load = async (pi: ExtensionAPI) => {
    api = pi;
    pi.registerMcpServer('dropped', { command: 'true', disabled: true });
    pi.registerMcpServer('kept', { command: 'true', disabled: true });
    pi.unregisterMcpServer('dropped');
    expect(pi.getMcpServers()).toMatchObject([{ name: 'kept' }]);
    expect(await pi.exec('pwd', [])).toMatchObject({ stdout: `${home.cwd}\n`, code: 0 });
  };
  const { loader } = await loadInline(load, {}, home);
  expect(loader.getExtensions().errors).toEqual([]);

  await createTestSession({ resourceLoader: loader }, home);

  expect(api?.getMcpServers()).toMatchObject([{ name: 'kept', extensionPath: '<inline:early>' }]);
});

it('[X92] extensions that are loaded anew or end receive no events of a shared bus', async () => {
  const eventBus = createEventBus(() => {});
  const received: unknown[] = [];
  const { loader, home } = await loadInline((pi) => pi.events.on('news', (data) => received.push(data)), { eventBus });

  await loader.reload();
  eventBus.emit('news', 1);
  const { session } = await createTestSession({ resourceLoader: loader }, home);
  eventBus.emit('news', 2);
  await session.dispose();
  eventBus.emit('news', 3);

  expect(received).toEqual([1, 2]);
});

it('[X92] a prompt text that is also the name of a folder stays a text', async () => {
  const home = newHome();
  const folder = join(home.root, 'prompt');
  mkdirSync(folder);

  const { loader } = await loadInline(() => {}, { systemPrompt: folder, appendSystemPrompt: [folder, ''] }, home);

  expect([loader.getSystemPrompt(), loader.getAppendSystemPrompt()]).toEqual([folder, [folder, '']]);
});
