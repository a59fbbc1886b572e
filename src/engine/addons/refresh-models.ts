import type { Extension } from '../../extend/extensions/extension.ts';
import { plainCopy } from '../../extend/extensions/hooks/validate-results.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { Agent } from '../agent.ts';
import { publishExtensionError } from '../agent-state.ts';

// A longer list is used when it arrives.
const REFRESH_WAIT_MS = 5000;

// A provider whose list of models is loaded at run time.
interface RefreshableProvider {
  readonly name: string;
  readonly config: { readonly refreshModels?: (context: object) => Promise<unknown> };
  readonly extensionPath: string;
}

/** Loads the lists of models that providers of extensions supply by code; waits a short time for them. */
export async function refreshModels(agent: Agent, extensions: readonly Extension[]): Promise<void> {
  const providers = extensions.flatMap(({ path, providers: configs }) =>
    [...configs].map(([name, config]) => ({ name, config, extensionPath: path })),
  );
  const lists = providers.map((provider) => refreshProvider(agent, provider));
  await withTimeout(REFRESH_WAIT_MS, Promise.all(lists), 'It takes too long').catch(() => {});
}

/** Loads the list of one provider; does nothing for a provider without such code. Never rejects. */
export async function refreshProvider(agent: Agent, provider: RefreshableProvider): Promise<void> {
  const { name, config, extensionPath } = provider;
  if (typeof config.refreshModels !== 'function') return;
  try {
    const models = await config.refreshModels({
      credential: await credentialOf(agent, name),
      allowNetwork: !agent.registry.isOffline,
      force: false,
      signal: new AbortController().signal,
      publish: async () => true,
    });
    if (!Array.isArray(models)) throw new TypeError(`refreshModels of ${name} returned no list`);
    agent.registry.register(name, { ...config, models: plainCopy(models) });
    await agent.onModelsChanged();
  } catch (error) {
    publishExtensionError(agent, extensionPath, 'refresh_models', error);
  }
}

async function credentialOf({ registry }: Agent, provider: string): Promise<object | undefined> {
  try {
    const { apiKey } = await registry.keyAndHeaders({ provider, id: '' });
    return apiKey === undefined ? undefined : { type: 'api_key', key: apiKey };
  } catch {
    return undefined;
  }
}
