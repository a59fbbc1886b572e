import type { ProviderConfig } from '../../../model/registry/provider-config.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';
import { isVirtual, type ModelRoute, type RouteRequest } from '../../../model/registry/virtual-models.ts';
import { Refusal } from '../../../protocol/errors.ts';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { ExtensionVirtualModel } from '../extension-api.ts';

type ModelType = 'chat' | 'image' | 'classifier';

interface DirectVirtualModel extends Omit<ExtensionVirtualModel, 'route'> {
  route(request: RouteRequest): ModelRoute | Promise<ModelRoute>;
}

/** The members for registered providers and types of models that pi's `ModelRegistry` and `ModelRuntime` share. */
export class RegisteredModels {
  readonly #registry: ModelRegistry;

  constructor(registry: ModelRegistry) {
    this.#registry = registry;
  }

  registerVirtualModel = (definition: DirectVirtualModel): void =>
    this.#registry.virtual.register({ ...definition, route: async (request) => definition.route(request) });

  unregisterVirtualModel = (provider: string, id: string): void => this.#registry.virtual.unregister(provider, id);

  getRegisteredProviderConfig = (provider: string): ProviderConfig | undefined =>
    this.#registry.registeredConfig(provider);

  /** The provider object that an extension registered. */
  getRegisteredNativeProvider = (provider: string): object | undefined =>
    this.#registry.registeredConfig(provider)?.providerObject;

  /** The models of a type; tau has no others than those for chat. */
  getModelsOfType = (type: ModelType, provider?: string): Model[] =>
    type === 'chat' ? ofProvider(this.#registry.all(), provider) : [];

  getModelOfType = (type: ModelType, provider: string, id: string): Model | undefined =>
    type === 'chat' ? this.#registry.findAny(provider, id) : undefined;

  getAvailableOfType = async (type: ModelType, provider?: string): Promise<Model[]> =>
    type === 'chat' ? ofProvider(this.#registry.available(), provider) : [];

  /** A model that is not virtual. */
  getPhysicalModel = (provider: string, id: string): Model | undefined => {
    const model = this.#registry.findAny(provider, id);
    return model && !isVirtual(model) ? model : undefined;
  };

  classify = (..._args: unknown[]): never => refuse('classify');
  generateImages = (..._args: unknown[]): never => refuse('generateImages');
  streamDeferred = (..._args: unknown[]): never => refuse('streamDeferred');
  fetchDeferred = (..._args: unknown[]): never => refuse('fetchDeferred');
  cancelDeferred = (..._args: unknown[]): never => refuse('cancelDeferred');
}

const ofProvider = (models: readonly Model[], provider: string | undefined): Model[] =>
  models.filter((model) => provider === undefined || model.provider === provider);

/** Throws the error of a member that tau lacks. */
export function refuse(member: string, reason = 'tau calls models for text only'): never {
  throw new Refusal('not_supported', `${member} is not available in tau: ${reason}`);
}
