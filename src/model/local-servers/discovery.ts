import { basename } from 'node:path';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { asObject, JsonServer } from './json-server.ts';
import { entriesWithId, localModel, tokenCount } from './local-model.ts';
import { ollama } from './ollama.ts';

interface ServerPorts {
  readonly ollama: number;
  readonly llamacpp: readonly number[];
  readonly lmstudio: number;
}

// llama.cpp has announced that its default moves from 8080 to 9931.
const defaultPorts: ServerPorts = { ollama: 11_434, llamacpp: [8080, 9931], lmstudio: 1234 };

/** Where to search for local servers, and for how long. */
export interface LocalServerSearch {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  readonly ports?: Partial<ServerPorts>;
}

/** The models of the servers that run on this machine. Never rejects: a server that fails or is too slow has none. */
export async function discoverLocalModels({ timeoutMs, signal, ports }: LocalServerSearch): Promise<Model[]> {
  const { ollama: ollamaPort, llamacpp, lmstudio } = { ...defaultPorts, ...ports };
  const timeout = AbortSignal.timeout(timeoutMs);
  const deadline = signal ? AbortSignal.any([signal, timeout]) : timeout;
  const found = await Promise.all([
    ollama(new JsonServer(ollamaPort, deadline)),
    ...llamacpp.map((port) => llamaCpp(new JsonServer(port, deadline))),
    lmStudio(new JsonServer(lmstudio, deadline)),
  ]);
  return found.flat().filter(isFirstOfItsName);
}

// A server may listen on several of the ports.
const isFirstOfItsName = ({ provider, id }: Model, index: number, models: readonly Model[]) =>
  models.findIndex((model) => model.provider === provider && model.id === id) === index;

/** The models of llama.cpp's server. Other servers on its port have no `/props`. */
async function llamaCpp(server: JsonServer): Promise<Model[]> {
  const [models, properties] = await Promise.all([server.fetchObject('/v1/models'), server.fetchObject('/props')]);
  const settings = asObject(properties?.['default_generation_settings']);
  if (!settings) return [];
  return entriesWithId(models?.['data'], 'id').map(({ id, entry }) =>
    localModel({
      provider: 'llamacpp',
      port: server.port,
      id,
      // A model without an alias has the path of its file as its id.
      name: basename(id, '.gguf'),
      contextWindow: tokenCount(settings['n_ctx']) ?? tokenCount(asObject(entry['meta'])?.['n_ctx']),
      seesImages: asObject(properties?.['modalities'])?.['vision'] === true,
      thinks: false,
    }),
  );
}

/** The models of LM Studio, from its own list or else from the OpenAI-compatible one. */
async function lmStudio(server: JsonServer): Promise<Model[]> {
  const own = await server.fetchObject('/api/v0/models');
  const list = own?.['data'] ?? (await server.fetchObject('/v1/models'))?.['data'];
  return entriesWithId(list, 'id')
    .filter(({ id, entry }) => entry['type'] !== 'embeddings' && !id.startsWith('text-embedding-'))
    .map(({ id, entry: { type, capabilities, loaded_context_length: loaded, max_context_length: most } }) =>
      localModel({
        provider: 'lmstudio',
        port: server.port,
        id,
        contextWindow: tokenCount(loaded) ?? tokenCount(most),
        seesImages: type === 'vlm',
        thinks: false,
        ...(Array.isArray(capabilities) ? { usesTools: capabilities.includes('tool_use') } : {}),
      }),
    );
}
