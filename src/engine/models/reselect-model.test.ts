import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { ShellOptions } from '../../agent/tools/bash/shell.ts';
import { builtinTools } from '../../agent/tools/builtin-tools.ts';
import { AgentClient } from '../../client/agent-client.ts';
import { Broadcast } from '../../fanout/broadcast.ts';
import { withoutSecrets } from '../../model/keys/secret-variables.ts';
import type { ProviderConfig } from '../../model/registry/provider-config.ts';
import type { ModelSelector } from '../../model/registry/registry.ts';
import { parseScript, type Script } from '../../model/scripted/script.ts';
import type { AgentEvent, ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { SessionList } from '../../store/sessions/listing/list-sessions.ts';
import { SessionLog } from '../../store/sessions/session-log.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { memoryPair } from '../../wire/memory.ts';
import { Agent } from '../agent.ts';
import { noPolicy } from '../approvals/policy.ts';
import { ClientConnection } from '../client-connection.ts';
import { loadStoredModel } from '../current-session.ts';
import { dispatch } from '../dispatch.ts';
import { Project } from '../project.ts';
import { SessionLane } from '../session-lane.ts';
import { openModels } from './open-models.ts';

const steps = [{ type: 'done', message: { content: [{ type: 'text', text: 'Acme here' }] } }];
const acme: ProviderConfig = {
  api: 'acme-api',
  apiKey: 'a key',
  models: [{ id: 'x', reasoning: true }, { id: 'y' }],
  streamSimple: async function* () {
    yield* steps;
  },
};

interface AgentSetup {
  readonly requested?: ModelSelector;
  readonly patterns?: readonly string[];
  readonly settings?: object;
  readonly path?: string;
  readonly env?: Record<string, string>;
  readonly script?: Script;
  readonly level?: ThinkingLevel;
}

/** An agent of a user with a folder of extensions, and a client of it. */
async function agentWith({ settings = {}, path, env = {}, level, ...options }: AgentSetup = {}) {
  const agentDir = tempFolder();
  mkdirSync(join(agentDir, 'extensions'));
  writeFileSync(join(agentDir, 'settings.json'), JSON.stringify(settings));
  const project = new Project({ cwd: agentDir, agentDir });
  const models = await openModels({ agentDir, env, project, addons: {}, offline: true, ...options });
  const { registry, requested: model, unresolved, thinkingLevel } = models;
  const log = path
    ? await SessionLog.open(path, { create: { cwd: agentDir } })
    : SessionLog.inMemory({ cwd: agentDir });
  await loadStoredModel(registry, log);
  const secretless = () => ({ ...withoutSecrets(env, registry.auth?.secretNames), PATH: process.env['PATH'] });
  const parts = {
    broadcast: new Broadcast(),
    registry,
    hooks: {},
    agentDir,
    addonOptions: {},
    mode: 'rpc' as const,
    env,
    policyFor: async () => noPolicy,
    projectFor: () => project,
    tools: (shell: ShellOptions) => builtinTools(shell, async () => ({ content: [] })),
    toolChoice: {},
    shell: () => ({ cwd: agentDir, env: secretless(), family: 'test' }),
    promptParts: () => ({ append: [], contextFiles: [] }),
    sessionDirectory: () => undefined,
    sessionList: async () => new SessionList(agentDir),
    saveSettings: async () => {},
    setApiKey: async () => {},
    requested: {
      model,
      unresolved: unresolved && { ...unresolved, thinkingLevel: level },
      thinkingLevel: level ?? thinkingLevel,
    },
  };
  const agent = new Agent(parts, { log: log, project: parts.projectFor(), policy: noPolicy });
  onTestFinished(() => agent.close());
  const [inside, outside] = memoryPair();
  const connection = new ClientConnection(inside);
  const lane = new SessionLane();
  agent.broadcast.add(connection);
  agent.clients.add(connection);
  connection.receive((line) => dispatch(line, { agent, connection, lane }));
  const client = new AgentClient(outside);
  onTestFinished(() => client.close());
  const events: AgentEvent[] = [];
  client.onEvent((event) => events.push(event));
  const register = async (config: ProviderConfig = acme) => {
    await registry.load({ anyway: true });
    registry.register('acme', config);
    await agent.onModelsChanged();
  };
  const unregister = async () => {
    registry.unregister('acme');
    await agent.onModelsChanged();
  };
  const entries = (type: string) => agent.session.log.entries().filter((entry) => entry.type === type);
  return { agent, client, registry, events, register, unregister, entries };
}

describe('an unknown model', () => {
  it('[L35] stays requested until an extension adds it, and is used as soon as it does', async () => {
    const { client, register, entries, events } = await agentWith({ requested: { pattern: 'acme/x:high' } });
    const notice = 'Model "acme/x:high" not found. Use --list-models to see available models.';
    expect(await client.getState()).toMatchObject({ model: null, modelFallbackMessage: notice });
    await expect(client.prompt({ message: 'hello' })).rejects.toThrow(notice);

    await register();

    expect(await client.getState()).toMatchObject({ model: { provider: 'acme', id: 'x' }, thinkingLevel: 'high' });
    expect((await client.getState()).modelFallbackMessage).toBeUndefined();
    expect(entries('model_change')).toMatchObject([{ provider: 'acme', modelId: 'x' }]);
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'state_changed',
        state: expect.objectContaining({ modelFallbackMessage: null }),
      }),
    );
    const { messages } = await client.promptAndWait('hello');
    expect(messages.at(-1)).toMatchObject({ content: [{ text: 'Acme here' }], provider: 'acme', model: 'x' });
  });

  it('[L35] stays missing with the latest reason', async () => {
    const { agent, client, register } = await agentWith({ requested: { pattern: 'acme/x' } });
    await agent.onModelsChanged();
    await expect(client.prompt({ message: 'hello' })).rejects.toThrow('Model "acme/x" not found.');

    await register({ ...acme, apiKey: '$ACME_KEY' });

    expect(await client.getState()).toMatchObject({
      model: null,
      modelFallbackMessage: expect.stringContaining('The environment variable ACME_KEY is not set'),
    });
    await register({ apiKey: 'now' });
    expect(await client.getState()).toMatchObject({ model: { id: 'x' } });
  });

  it('[L35] is found with a key given for it', async () => {
    const { client, register, registry } = await agentWith({
      requested: { pattern: 'x', provider: 'acme', apiKey: 'given' },
    });

    await register({ ...acme, apiKey: '$ACME_KEY' });

    expect(await client.getState()).toMatchObject({ model: { id: 'x' } });
    expect(await registry.keyAndHeaders({ provider: 'acme', id: 'x' })).toMatchObject({ apiKey: 'given' });
  });

  it('[L35] uses the thinking level given beside its name', async () => {
    const { client, register } = await agentWith({ requested: { pattern: 'acme/x:high' }, level: 'low' });

    await register();

    expect(await client.getState()).toMatchObject({ model: { id: 'x' }, thinkingLevel: 'low' });
  });

  it('[L35] may come from the settings', async () => {
    const { agent, client, register } = await agentWith({ settings: { defaultProvider: 'acme', defaultModel: 'y' } });
    const { modelFallbackMessage } = await client.getState();
    expect(modelFallbackMessage).toContain('(defaultModel in settings.json)');
    await agent.onModelsChanged();
    expect((await client.getState()).modelFallbackMessage).toBe(modelFallbackMessage);

    await register();

    expect(await client.getState()).toMatchObject({ model: { provider: 'acme', id: 'y' } });
  });

  it('[L35] may come from a stored session, which records it once', async () => {
    const path = join(tempFolder(), 's.jsonl');
    const first = await agentWith({ requested: { pattern: 'acme/x' }, path });
    await first.register();
    await first.client.promptAndWait('hello');
    await first.agent.close();

    const { client, register, entries } = await agentWith({ path });
    expect(await client.getState()).toMatchObject({ model: null });
    await register();

    expect(await client.getState()).toMatchObject({ model: { provider: 'acme', id: 'x' } });
    expect(entries('model_change')).toHaveLength(1);
    expect((await client.promptAndWait('again')).messages.at(-1)).toMatchObject({ stopReason: 'stop' });
  });

  it('[L35] is not selected after the client selected another model', async () => {
    const { agent, client, registry } = await agentWith({ requested: { pattern: 'acme/x' } });
    await registry.load({ anyway: true });
    registry.register('acme', acme);

    const changed = agent.onModelsChanged();
    await client.setModel({ provider: 'tau', modelId: 'scripted' });
    await changed;

    expect(await client.getState()).toMatchObject({ model: { provider: 'tau' } });
  });

  it('[L35] replaces the built-in model if no model was requested and no message was sent to it', async () => {
    const { client, register, unregister } = await agentWith();
    expect(await client.getState()).toMatchObject({ model: { provider: 'tau' } });

    await register();

    expect(await client.getState()).toMatchObject({ model: { provider: 'acme', id: 'x' } });
    await unregister();
    const other = await agentWith();
    await other.client.promptAndWait('say hello');
    await other.register();
    expect(await other.client.getState()).toMatchObject({ model: { provider: 'tau' } });
  });

  it('[L35] does not replace a script', async () => {
    const script = parseScript('{"text":"played"}', 'test');
    const { client, register } = await agentWith({ script });

    await register();

    expect(await client.getState()).toMatchObject({ model: { provider: 'tau' } });
  });
});

describe('the model in use', () => {
  it('[L35] is reported missing when its provider is unregistered, and returns with it', async () => {
    const { client, register, unregister, entries } = await agentWith({ requested: { pattern: 'acme/x:low' } });
    await register();

    await unregister();

    expect(await client.getState()).toMatchObject({
      model: null,
      modelFallbackMessage: expect.stringContaining('No API key found for acme. There is no such provider'),
      thinkingLevel: 'low',
    });
    await expect(client.prompt({ message: 'hello' })).rejects.toMatchObject({ code: 'model_not_found' });
    await register();
    expect(await client.getState()).toMatchObject({ model: { id: 'x' }, thinkingLevel: 'low' });
    expect(entries('model_change')).toHaveLength(1);
  });

  it('[L35] finishes its response when it is unregistered in a run, which then ends with the reason', async () => {
    const { client, register, unregister } = await agentWith({ requested: { pattern: 'acme/x' } });
    const call = { type: 'toolCall', id: 'c', name: 'bash', arguments: { command: 'echo done' } };
    await register({
      ...acme,
      streamSimple: async function* () {
        await unregister();
        yield { type: 'done', message: { content: [call] } };
      },
    });

    const { messages, settled } = await client.promptAndWait('go');

    expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
    expect(settled).toMatchObject({
      outcome: 'error',
      errorCode: 'model_error',
      errorMessage: expect.stringContaining('No API key found for acme'),
    });
    expect(await client.getState()).toMatchObject({ isIdle: true, model: null });
  });

  it('[L35] follows the latest definition of its provider', async () => {
    const { client, register } = await agentWith({ requested: { pattern: 'acme/x:high' } });
    await register();

    await register({ models: [{ id: 'x', contextWindow: 5000 }] });

    expect(await client.getState()).toMatchObject({ model: { contextWindow: 5000 }, thinkingLevel: 'off' });
  });

  it('[L35] is cycled among the chosen patterns, from any provider', async () => {
    const { client, register } = await agentWith({ patterns: ['acme/*'], requested: { pattern: 'acme/x' } });

    await register();

    expect(await client.cycleModel()).toMatchObject({ model: { id: 'y' }, isScoped: true });
    expect((await client.getAvailableModels()).models.map(({ id }) => id)).toEqual(['x', 'y']);
    expect(await client.setModel({ provider: 'acme', modelId: 'x' })).toMatchObject({ id: 'x' });
  });
});

it('[L34] tools do not see the secrets of a registered provider', async () => {
  const env = { ACME_KEY: 'hidden', OTHER: 'shown' };
  const { agent, client, register } = await agentWith({ env });
  const seen = async () => {
    const bash = agent.toolbox.active.find(({ name }) => name === 'bash');
    const { signal } = new AbortController();
    const args = { command: 'echo $ACME_KEY-$OTHER' };
    const result = await bash?.execute({ toolCallId: 'c', args, signal, update: () => {} });
    return JSON.stringify(result?.content);
  };
  expect(await seen()).toContain('hidden-shown');

  await register({ ...acme, apiKey: '$ACME_KEY' });

  expect(await seen()).toContain('"-shown');
  expect((await client.bash({ command: 'echo $ACME_KEY-$OTHER' })).output).toBe('-shown\n');
});
