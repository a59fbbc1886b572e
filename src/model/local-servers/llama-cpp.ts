import { basename } from 'node:path';
import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type JsonServer, objectOf } from './json-server.ts';
import { listed, localModel, tokens } from './local-model.ts';

/** The models of llama.cpp's server. Others that listen on its port do not know their own properties. */
export async function llamaCpp(server: JsonServer): Promise<Model[]> {
  const [models, properties] = await Promise.all([server.ask('/v1/models'), server.ask('/props')]);
  const settings = objectOf(properties?.['default_generation_settings']);
  if (!settings) return [];
  return listed(models?.['data'], 'id').map(({ id, entry }) =>
    localModel({
      provider: 'llamacpp',
      port: server.port,
      id,
      // A model without an alias goes by the path of its file.
      name: basename(id, '.gguf'),
      contextWindow: tokens(settings['n_ctx']) ?? tokens(objectOf(entry['meta'])?.['n_ctx']),
      seesImages: objectOf(properties?.['modalities'])?.['vision'] === true,
      thinks: false,
    }),
  );
}
