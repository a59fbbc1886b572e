import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { Provider } from '../request.ts';
import { asObject, type JsonRecord, JsonServer } from './json-server.ts';
import { entriesWithId, localModel, tokenCount } from './local-model.ts';

const CONCURRENT_REQUESTS = 8;
const SERVED_WINDOW_TIMEOUT_MS = 500;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost']);

/** The models of Ollama. */
export async function ollama(server: JsonServer): Promise<Model[]> {
  const [installed, running] = await Promise.all([server.fetchObject('/api/tags'), server.fetchObject('/api/ps')]);
  const ids = entriesWithId(installed?.['models'], 'name').map(({ id }) => id);
  const windows = new Map(
    entriesWithId(running?.['models'], 'name').map(({ id, entry }) => [id, entry['context_length']]),
  );
  const models: Model[][] = ids.map(() => []);
  const remaining = ids.entries();
  const worker = async () => {
    for (const [index, id] of remaining) {
      const details = await server.fetchObject('/api/show', { model: id });
      // Without details the context window is unknown.
      if (details) models[index] = toModels({ id, port: server.port, window: tokenCount(windows.get(id)) }, details);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, worker));
  return models.flat();
}

interface ListedModel {
  readonly id: string;
  readonly port: number;
  /** The window of the running model. */
  readonly window: number | undefined;
}

function toModels({ id, port, window }: ListedModel, details: JsonRecord): Model[] {
  const { capabilities } = details;
  const hasCapability = (name: string) => Array.isArray(capabilities) && capabilities.includes(name);
  // Embedding models cannot complete prompts.
  if (Array.isArray(capabilities) && !hasCapability('completion')) return [];
  return [
    localModel({
      provider: 'ollama',
      port,
      id,
      contextWindow: window ?? minDefined(configuredWindow(details), trainedWindow(details)),
      seesImages: hasCapability('vision'),
      thinks: hasCapability('thinking'),
      ...(Array.isArray(capabilities) ? { usesTools: hasCapability('tools') } : {}),
    }),
  ];
}

// From the model's parameters.
function configuredWindow(details: JsonRecord | undefined): number | undefined {
  const [, digits] = /^num_ctx\s+(\d+)\s*$/m.exec(String(details?.['parameters'])) ?? [];
  return tokenCount(Number(digits));
}

// From the model's architecture.
function trainedWindow(details: JsonRecord | undefined): number | undefined {
  const [, length] =
    Object.entries(asObject(details?.['model_info']) ?? {}).find(([key]) => key.endsWith('.context_length')) ?? [];
  return tokenCount(length);
}

const minDefined = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);

/**
 * Checks after each response of Ollama with which context window the model runs: only then it is loaded. Ollama drops
 * the beginning of longer requests without an error, and its OpenAI-compatible API accepts no `num_ctx`. The window is
 * undefined if the server does not report it.
 */
export const withServedWindow = (
  provider: Provider,
  model: Model,
  onWindow: (window: number | undefined) => void,
): Provider =>
  async function* (request, draft) {
    yield* provider(request, draft);
    onWindow(await servedWindow(model));
  };

async function servedWindow({ id, baseUrl = '' }: Model): Promise<number | undefined> {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url?.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return undefined;
  const server = new JsonServer(Number(url.port || 80), AbortSignal.timeout(SERVED_WINDOW_TIMEOUT_MS));
  const running = entriesWithId((await server.fetchObject('/api/ps'))?.['models'], 'name');
  const found = running.find((model) => model.id === id || model.id === `${id}:latest`);
  return tokenCount(found?.entry['context_length']);
}
