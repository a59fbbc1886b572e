import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { streamTimeouts } from '../endpoint.ts';
import { ModelRegistry, type RegistryOptions } from './registry.ts';
import { customProvider, modelNames } from './testing/user-files.ts';

/** A registry of a user with this models.json. */
function registry({ providers, ...options }: Partial<RegistryOptions> & { providers?: object } = {}) {
  const agentDir = tempFolder();
  if (providers) writeFileSync(join(agentDir, 'models.json'), JSON.stringify({ providers }));
  return new ModelRegistry({ agentDir, env: {}, folderOptions: { timeouts: streamTimeouts({}) }, ...options });
}

/** LM Studio with one model, and no other server; counts requests. */
async function lmStudio() {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.end(JSON.stringify({ data: [{ id: 'local', type: 'llm', max_context_length: 4000 }] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return { requests, ports: { ollama: 1, llamacpp: [1], lmstudio: port } };
}

const scripted = ['tau/scripted', 'tau/scripted-small', 'tau/scripted-slow'];

describe('a registry of a user without configuration', () => {
  it('has the built-in models', async () => {
    const known = registry();
    await known.load();

    expect(known.isConfigured).toBe(false);
    expect(modelNames(known.available())).toEqual(scripted);
    expect(known.fallback).toMatchObject({ provider: 'tau', id: 'scripted' });
    expect(known.unavailableReason('anthropic', 'x')).toBe('No API key found for anthropic');
    expect([known.scope, known.problems, known.auth]).toEqual([undefined, [], undefined]);
  });

  it('loads the others once one of them is named', async () => {
    const known = registry();
    await known.loadProvider('anthropic');

    expect(known.has('anthropic', 'claude-opus-5-5')).toBe(true);
    expect(known.find('anthropic', 'claude-opus-5-5')).toBeUndefined();
    expect(known.unavailableReason('anthropic', 'claude-opus-5-5')).toContain('Set ANTHROPIC_API_KEY');
  });

  it.each(['OPENAI_API_KEY', 'GEMINI_API_KEY'])('is configured by %s alone', (name) => {
    expect(registry({ env: { [name]: 'k' } }).isConfigured).toBe(true);
  });
});

describe('local servers', () => {
  it('are discovered when one of them is named, and then offered but not selected', async () => {
    const { ports } = await lmStudio();
    const known = registry({ ports });
    await known.loadProvider('lmstudio');

    expect(modelNames(known.available())).toEqual(['lmstudio/local']);
    expect(known.find('lmstudio', 'local')).toMatchObject({ contextWindow: 4000 });
    expect(known.fallback).toMatchObject({ provider: 'tau' });
    expect(await known.resolve({ pattern: 'lmstudio/local' })).toMatchObject({ model: { id: 'local' } });
  });

  it('are not discovered when another provider is named', async () => {
    const { ports, requests } = await lmStudio();
    const known = registry({ ports, providers: { mine: customProvider } });

    await known.load();
    await known.loadProvider('anthropic');
    await known.resolve({ pattern: 'mine/llama' });
    await known.setScope(['mine/*']);

    expect(requests).toEqual([]);
  });

  it('are never discovered offline', async () => {
    const { ports, requests } = await lmStudio();
    const known = registry({ ports, offline: true });

    await known.discoverLocalModels();
    await known.loadProvider('lmstudio');

    expect(requests).toEqual([]);
    expect(modelNames(known.available())).toEqual(scripted);
    expect(known.unavailableReason('lmstudio', 'local')).toMatch(
      /^Model not found: lmstudio\/local\. No server on this machine/,
    );
    await expect(known.resolve({ pattern: 'lmstudio/local' })).rejects.toMatchObject({ code: 'model_not_found' });
  });

  it('yield to models.json', async () => {
    const { ports } = await lmStudio();
    const described = { ...customProvider, models: [{ id: 'local', name: 'Described' }] };
    const known = registry({ ports, providers: { lmstudio: described } });
    await known.loadProvider('lmstudio');

    expect(known.available().map(({ name }) => name)).toEqual(['Described']);
  });
});

describe('a scope', () => {
  it('holds scripted models only by name', async () => {
    const known = registry({ providers: { mine: customProvider } });
    const scopes = [];
    for (const pattern of ['*', 'tau/*', 'scripted-small', 'nothing-like-it']) {
      await known.setScope([pattern]);
      scopes.push(known.scope && modelNames(known.scope.map(({ model }) => model)));
    }

    expect(scopes).toEqual([['mine/llama'], scripted, ['tau/scripted-small'], undefined]);
  });

  it('sets a key for this process for the provider of its first match', async () => {
    const known = registry({ providers: { mine: { ...customProvider, authHeader: true } } });

    expect(await known.setScope(['mine/*'])).toEqual(['No models match pattern "mine/*".']);
    expect(await known.setScope(['mine/*'], 'sk-flag')).toEqual([]);
    expect([...(known.auth?.keyLocations() ?? [])]).toEqual([['mine', '--api-key']]);
  });
});
