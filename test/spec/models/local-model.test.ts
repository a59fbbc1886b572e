import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { Models } from '../../../src/engine/models/open-models.ts';
import { openEngine } from '../../../src/engine/open.ts';
import { streamTimeouts } from '../../../src/model/endpoint.ts';
import { ModelRegistry } from '../../../src/model/registry/registry.ts';
import type { Model } from '../../../src/protocol/generated/vocabulary.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newHome, writeUserFile } from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

it('[L31] a local model without tool support is called without tools', async () => {
  const double = await ProviderDouble.start(completions);
  const jsonResponse = (value: object) => ({ status: 200, body: JSON.stringify(value) });
  const listed = jsonResponse({ models: [{ name: 'plain' }] });
  const shown = jsonResponse({ capabilities: ['completion'], model_info: { 'plain.context_length': 8000 } });
  double.respondWith(listed, listed, shown, { text: 'Hello.' }, listed);
  const { cwd, agentDir } = newHome();
  const ports = { ollama: Number(new URL(double.url).port), llamacpp: [1], lmstudio: 1 };
  const registry = new ModelRegistry({ agentDir, env: {}, folderOptions: { timeouts: streamTimeouts({}) }, ports });
  const { model } = await registry.resolve({ pattern: 'ollama/plain' });
  const peer = await openPeer({ cwd, agentDir }, { registry, requested: { provider: model.provider, id: model.id } });

  await peer.run('hi');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  const { body } = await double.request(3);
  expect(body).toMatchObject({ model: 'plain' });
  expect(body).not.toHaveProperty('tools');
});

it('[L40] local servers are listed with their true context windows; start and runs do not wait for them', async () => {
  const paths: string[] = [];
  const ollama = await serve(paths, {
    '/api/tags': { models: [{ name: 'small' }, { name: 'running' }] },
    '/api/ps': { models: [{ name: 'running', context_length: 4096 }] },
    '/api/show': { model_info: { 'x.context_length': 131_072 }, parameters: 'num_ctx 8192' },
  });
  const llamacpp = await serve(paths, {
    '/v1/models': { data: [{ id: 'served' }] },
    '/props': { default_generation_settings: { n_ctx: 6000 } },
  });
  const silent = await serve(paths, {});
  const { cwd, agentDir } = newHome();
  const ports = { ollama, llamacpp: [silent, llamacpp], lmstudio: silent };
  const registry = new ModelRegistry({ agentDir, env: {}, folderOptions: { timeouts: streamTimeouts({}) }, ports });
  const peer = await openPeer({ cwd, agentDir }, { registry, requested: { provider: 'tau', id: 'scripted' } });

  await peer.run('say hello');
  expect(paths).toEqual([]);
  const { models } = await peer.ok({ type: 'get_available_models' });

  const windows = models.map(({ provider, id, contextWindow }: Model) => [`${provider}/${id}`, contextWindow]);
  expect(windows.filter(([name]: [string]) => !name.startsWith('tau/'))).toEqual([
    ['ollama/small', 8192],
    ['ollama/running', 4096],
    ['llamacpp/served', 6000],
  ]);
});

it('[L41] a model that Ollama runs with a smaller context than assumed is corrected, with a warning', async () => {
  const double = await ProviderDouble.start(completions);
  const jsonResponse = (value: object) => ({ status: 200, body: JSON.stringify(value) });
  const listed = jsonResponse({ models: [{ name: 'large:latest' }] });
  const shown = jsonResponse({ capabilities: ['completion'], model_info: { 'x.context_length': 131_072 } });
  const running = jsonResponse({ models: [{ name: 'large:latest', context_length: 16_000 }] });
  double.respondWith(listed, listed, shown, { text: 'One.' }, running, { text: 'Two.' });
  const { cwd, agentDir } = newHome();
  const ports = { ollama: Number(new URL(double.url).port), llamacpp: [1], lmstudio: 1 };
  const registry = new ModelRegistry({ agentDir, env: {}, folderOptions: { timeouts: streamTimeouts({}) }, ports });
  const { model } = await registry.resolve({ pattern: 'ollama/large:latest' });
  const peer = await openPeer({ cwd, agentDir }, { registry, requested: { provider: model.provider, id: model.id } });

  const before = await windowOf(peer);
  await peer.run('hi');
  const after = await windowOf(peer);
  await peer.run('again');

  expect([before, after]).toEqual([131_072, 16_000]);
  expect(peer.records.filter(({ type }) => type === 'warning')).toEqual([
    {
      type: 'warning',
      source: 'models',
      message: expect.stringMatching(/^Ollama runs large:latest with a context of 16000 tokens, not 131072, and drops/),
    },
  ]);
  expect(peer.records).toContainEqual(
    expect.objectContaining({
      type: 'state_changed',
      state: { model: expect.objectContaining({ contextWindow: 16_000 }) },
    }),
  );
  expect(double.requests).toHaveLength(6);
});

it('[L41] a smaller context in models.json is kept, and a larger one is corrected for every later choice', async () => {
  const double = await ProviderDouble.start(completions);
  const running = { status: 200, body: JSON.stringify({ models: [{ name: 'mine:latest', context_length: 8000 }] }) };
  const home = newHome();
  const { cwd, agentDir } = home;
  const windows = [];
  for (const contextWindow of [4096, 32_000]) {
    const ollama = {
      baseUrl: double.url,
      api: 'openai-completions',
      apiKey: 'none',
      models: [{ id: 'mine', contextWindow }, { id: 'other' }],
    };
    writeUserFile(home, 'models.json', JSON.stringify({ providers: { ollama } }));
    const registry = new ModelRegistry({
      agentDir,
      env: {},
      offline: true,
      folderOptions: { timeouts: streamTimeouts({}) },
    });
    const { model } = await registry.resolve({ pattern: 'ollama/mine' });
    const peer = await openPeer({ cwd, agentDir }, { registry, requested: { provider: model.provider, id: model.id } });
    await registry.setScope(['ollama/mine', 'ollama/other']);
    double.respondWith({ text: 'Hello.' }, running);
    await peer.run('hi');
    windows.push(await windowOf(peer));
    await peer.ok({ type: 'set_model', provider: 'ollama', modelId: 'other' });
    await peer.ok({ type: 'set_model', provider: 'ollama', modelId: 'mine' });
    windows.push(await windowOf(peer));
    windows.push(registry.scope?.[0]?.model.contextWindow);
  }

  expect(windows).toEqual([4096, 4096, 4096, 8000, 8000, 8000]);
});

it('[L41] an Ollama server that does not report the context of a model is requested once', async () => {
  const double = await ProviderDouble.start(completions);
  const home = newHome();
  const ollama = { baseUrl: double.url, api: 'openai-completions', apiKey: 'none', models: [{ id: 'mine' }] };
  writeUserFile(home, 'models.json', JSON.stringify({ providers: { ollama } }));
  const { cwd, agentDir } = home;
  const folderOptions = { timeouts: streamTimeouts({}) };
  const registry = new ModelRegistry({ agentDir, env: {}, offline: true, folderOptions });
  const { model } = await registry.resolve({ pattern: 'ollama/mine' });
  const peer = await openPeer({ cwd, agentDir }, { registry, requested: { provider: model.provider, id: model.id } });
  double.respondWith({ text: 'One.' }, { status: 404, body: '{}' }, { text: 'Two.' }, { status: 404, body: '{}' });

  await peer.run('hi');
  await peer.run('again');

  expect(double.requests).toHaveLength(3);
});

const windowOf = async (peer: Peer) => (await peer.ok({ type: 'get_state' })).model.contextWindow;

/** Starts a server on this machine that records each path and never responds on others than these. */
async function serve(requested: string[], responses: Readonly<Record<string, object>>): Promise<number> {
  const server = createServer((request, response) => {
    requested.push(request.url ?? '');
    const body = responses[request.url ?? ''];
    if (body) response.end(JSON.stringify(body));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** A client of an agent in memory with these models. */
async function openPeer(home: { cwd: string; agentDir: string }, models: Omit<Models, 'warnings'>): Promise<Peer> {
  const engine = await openEngine({
    ...home,
    env: {},
    sessionDirectory: () => home.cwd,
    first: { kind: 'memory' },
    models: { ...models, warnings: [] },
  });
  onTestFinished(() => engine.close());
  const [inside, outside] = memoryPair();
  const peer = new Peer(outside);
  engine.connect(inside);
  return peer;
}
