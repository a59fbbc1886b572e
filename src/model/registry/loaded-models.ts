import { ProviderAuth, type ProviderAuthOptions } from '../keys/provider-auth.ts';
import { catalogue as bundledCatalogue } from './catalogue.ts';
import { type Catalogue, ModelList } from './model-list.ts';

export interface LoadedModels {
  readonly list: ModelList;
  readonly auth: ProviderAuth;
}

type LoadOptions = Omit<ProviderAuthOptions, 'list'> & { readonly catalogue?: Catalogue };

/** Opens the models of the catalogue and the user's files, with their keys. Is imported on first use, not at start. */
export function openModels({ catalogue = bundledCatalogue, ...options }: LoadOptions): LoadedModels {
  const list = new ModelList(options.agentDir, catalogue);
  return { list, auth: new ProviderAuth({ ...options, list }) };
}
