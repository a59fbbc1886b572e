import type { Model } from '../../protocol/generated/vocabulary.ts';
import type { JsonServer } from './json-server.ts';
import { entriesWithId, localModel, tokenCount } from './local-model.ts';

/** The models of LM Studio, from its own list or else from the OpenAI-compatible one. */
export async function lmStudio(server: JsonServer): Promise<Model[]> {
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
