import type { Extension } from '../../extend/extensions/extension.ts';
import { plainCopy } from '../../extend/extensions/hooks/validate-results.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { Agent } from '../agent.ts';
import { publishExtensionError } from '../agent-state.ts';
import type { ModelRefreshes } from './model-refreshes.ts';

// A longer list is used when it arrives.
const REFRESH_WAIT_MS = 5000;

// A list that takes longer is not used.
const REFRESH_TIMEOUT_MS = 60_000;

// A provider whose list of models is loaded at run time.
interface RefreshableProvider {
  readonly name: string;
  readonly config: { readonly refreshModels?: (context: object) => Promise<unknown> };
  readonly extensionPath: string;
  /** Aborted when the provider is removed or replaced. */
  readonly removed: AbortSignal;
}

/** Loads the lists of models that providers of extensions supply by code; waits a short time for them. */
export async function refreshModels(
  agent: Agent,
  refreshes: ModelRefreshes,
  extensions: readonly Extension[],
): Promise<void> {
  const providers = extensions.flatMap(({ path, providers: configs }) =>
    [...configs].map(([name, config]) => ({ name, config, extensionPath: path, removed: refreshes.begin(name) })),
  );
  const lists = providers.map((provider) => refreshProvider(agent, provider));
  await withTimeout(REFRESH_WAIT_MS, Promise.all(lists), 'It takes too long').catch(() => {});
}

/** Loads the list of one provider; does nothing for a provider without such code. Never rejects. */
export async function refreshProvider(agent: Agent, provider: RefreshableProvider): Promise<void> {
  const { name, config, extensionPath, removed } = provider;
  if (typeof config.refreshModels !== 'function' || removed.aborted) return;
  const signal = AbortSignal.any([removed, AbortSignal.timeout(REFRESH_TIMEOUT_MS)]);
  try {
    const models = await beforeAbort(
      signal,
      config.refreshModels({
        credential: await credentialOf(agent, name),
        allowNetwork: !agent.registry.isOffline,
        force: false,
        signal,
        publish: async () => true,
      }),
      `refreshModels of ${name} takes too long`,
    );
    if (removed.aborted) return;
    if (!Array.isArray(models)) throw new TypeError(`refreshModels of ${name} returned no list`);
    agent.registry.register(name, { ...config, models: plainCopy(models) });
    await agent.onModelsChanged();
  } catch (error) {
    if (!removed.aborted) publishExtensionError(agent, extensionPath, 'refresh_models', error);
  }
}

/** Settles like the work, or rejects with `message` when the signal aborts. */
function beforeAbort<T>(signal: AbortSignal, work: Promise<T>, message: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new Error(message));
    signal.addEventListener('abort', abort, { once: true });
    Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', abort));
    if (signal.aborted) abort();
  });
}

async function credentialOf({ registry }: Agent, provider: string): Promise<object | undefined> {
  try {
    const { apiKey } = await registry.keyAndHeaders({ provider, id: '' });
    return apiKey === undefined ? undefined : { type: 'api_key', key: apiKey };
  } catch {
    return undefined;
  }
}
