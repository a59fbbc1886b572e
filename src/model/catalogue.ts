import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Model } from '../protocol/generated/vocabulary.ts';

/** A server of a provider: what all its models share, and what is their own. */
interface Server extends Pick<Model, 'api' | 'baseUrl' | 'headers' | 'compat'> {
  readonly models: readonly Own[];
}

type Own = Pick<
  Model,
  'id' | 'name' | 'reasoning' | 'input' | 'contextWindow' | 'maxTokens' | 'cost' | 'thinkingLevelMap' | 'compat'
>;

/** Beside the program, and for what runs from its sources beside them. */
const places = ['../catalogue', './catalogue'].map((place) => join(import.meta.dirname, place));

/** The models that come with the program; each provider's file is read when first asked for. */
export const catalogue = openCatalogue();

function openCatalogue() {
  let folder: { readonly path: string; readonly providers: readonly string[] } | undefined;
  const known = new Map<string, readonly Model[]>();
  const open = () => {
    folder ??= places.map(listed).find((found) => found !== undefined);
    if (!folder) throw new Error('The catalogue of models was not built');
    return folder;
  };
  return {
    providers: (): readonly string[] => open().providers,
    /** None for a provider that the catalogue lacks. */
    models(provider: string): readonly Model[] {
      const { path, providers } = open();
      if (!providers.includes(provider)) return [];
      const models = known.get(provider) ?? read(path, provider);
      known.set(provider, models);
      return models;
    },
  };
}

function listed(path: string) {
  try {
    const files = readdirSync(path).filter((name) => name.endsWith('.json'));
    return { path, providers: files.map((name) => name.slice(0, -'.json'.length)).sort() };
  } catch {
    return undefined;
  }
}

function read(path: string, provider: string): readonly Model[] {
  const servers = JSON.parse(readFileSync(join(path, `${provider}.json`), 'utf8')) as readonly Server[];
  return servers.flatMap(({ models, ...shared }) => models.map((own) => modelOf(provider, shared, own)));
}

function modelOf(provider: string, { compat, ...shared }: Omit<Server, 'models'>, own: Own): Model {
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
