import { basename } from 'node:path';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type JsonServer, asObject } from './json-server.ts';
import { entriesWithId, localModel, tokenCount } from './local-model.ts';

/** The models of llama.cpp's server. Other servers on its port have no `/props`. */
export async function llamaCpp(server: JsonServer): Promise<Model[]> {
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
