import { expect, it, onTestFinished } from 'vitest';
import { openEngine } from '../../../src/engine/open.ts';
import { streamTimeouts } from '../../../src/model/endpoint.ts';
import { ModelRegistry } from '../../../src/model/registry/registry.ts';
import { memoryPair } from '../../../src/wire/memory.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

it('[L31] a local model without tool support is called without tools', async () => {
  const double = await ProviderDouble.start(completions);
  const jsonResponse = (value: object) => ({ status: 200, body: JSON.stringify(value) });
  const listed = jsonResponse({ models: [{ name: 'plain' }] });
  const shown = jsonResponse({ capabilities: ['completion'], model_info: { 'plain.context_length': 8000 } });
  double.respondWith(listed, listed, shown, { text: 'Hello.' });
  const { cwd, agentDir } = newHome();
  const ports = { ollama: Number(new URL(double.url).port), llamacpp: 1, lmstudio: 1 };
  const registry = new ModelRegistry({ agentDir, env: {}, folderOptions: { timeouts: streamTimeouts({}) }, ports });
  const { model } = await registry.resolve({ pattern: 'ollama/plain' });
  const engine = await openEngine({
    cwd,
    agentDir,
    env: {},
    sessionDirectory: () => cwd,
    first: { kind: 'memory' },
    models: { registry, requested: { provider: model.provider, id: model.id }, warnings: [] },
  });
  onTestFinished(() => engine.close());
  const [inside, outside] = memoryPair();
  const peer = new Peer(outside);
  engine.connect(inside);

  await peer.run('hi');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  const { body } = await double.request(3);
  expect(body).toMatchObject({ model: 'plain' });
  expect(body).not.toHaveProperty('tools');
});
