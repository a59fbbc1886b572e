import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../../protocol/generated/vocabulary.ts';

// A server of a provider: shared fields, and its models.
interface CatalogueServer extends Pick<Model, 'api' | 'baseUrl' | 'headers' | 'compat'> {
  readonly models: readonly OwnFields[];
}

type OwnFields = Pick<
  Model,
  'id' | 'name' | 'reasoning' | 'input' | 'contextWindow' | 'maxTokens' | 'cost' | 'thinkingLevelMap' | 'compat'
>;

// In a build, beside the running file or one level above it; otherwise in the root of the project.
const folders = ['../catalogue', './catalogue', '../../../catalogue'].map((path) => join(import.meta.dirname, path));

/** The models that come with tau; each provider's file is read on first use. */
export const catalogue = openCatalogue();

function openCatalogue() {
  let folder: { readonly path: string; readonly providers: readonly string[] } | undefined;
  const cache = new Map<string, readonly Model[]>();
  const openFolder = () => {
    folder ??= folders.map(listFolder).find((found) => found !== undefined);
    if (!folder) throw new Error('The catalogue of models was not built');
    return folder;
  };
  return {
    providers: (): readonly string[] => openFolder().providers,
    /** Is empty for an unknown provider. */
    models(provider: string): readonly Model[] {
      const { path, providers } = openFolder();
      if (!providers.includes(provider)) return [];
      const models = cache.get(provider) ?? readProvider(path, provider);
      cache.set(provider, models);
      return models;
    },
  };
}

function listFolder(path: string) {
  try {
    const files = readdirSync(path).filter((name) => name.endsWith('.json'));
    return { path, providers: files.map((name) => name.slice(0, -'.json'.length)).sort() };
  } catch {
    return undefined;
  }
}

function readProvider(path: string, provider: string): readonly Model[] {
  const servers = JSON.parse(readFileSync(join(path, `${provider}.json`), 'utf8')) as readonly CatalogueServer[];
  return servers.flatMap(({ models, ...shared }) => models.map((own) => toModel(provider, shared, own)));
}

function toModel(provider: string, { compat, ...shared }: Omit<CatalogueServer, 'models'>, own: OwnFields): Model {
  return {
    ...shared,
    ...own,
    provider,
    ...(compat || own.compat ? { compat: { ...compat, ...own.compat } } : {}),
    supportsImages: own.input.includes('image'),
    supportsTools: true,
    thinking: own.reasoning,
  };
}
