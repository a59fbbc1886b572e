import type { Model } from '../../protocol/generated/vocabulary.ts';
import { type FileSnapshot, readIfChanged } from '../../store/json-file.ts';
import { type CustomProvider, type ModelsFile, modelsFilePath, readModelsFile } from '../../store/models-file.ts';
import { applyCustomisation } from './custom-models.ts';
import { preferredProviders } from './default-models.ts';
import type { ProviderConfig } from './provider-config.ts';
import { RegisteredProviders } from './registered-providers.ts';

export interface Catalogue {
  providers(): readonly string[];
  models(provider: string): readonly Model[];
}

/** The models and providers of the catalogue, the user's `models.json` and extensions, with or without a key. */
export class ModelList {
  readonly #agentDir: string;
  readonly #catalogue: Catalogue;
  readonly #customisedModels = new Map<string, readonly Model[]>();
  readonly #registered = new RegisteredProviders();
  /** Changes the models of a provider for the signed-in account. */
  accountModels: (provider: string, models: readonly Model[]) => readonly Model[] = (_provider, models) => models;
  #file: FileSnapshot<ModelsFile>;

  constructor(agentDir: string, catalogue: Catalogue) {
    this.#agentDir = agentDir;
    this.#catalogue = catalogue;
    this.#file = this.#readFile();
  }

  /** Adds or changes a provider until it is unregistered. Throws a `Refusal` if the config is invalid. */
  register(provider: string, config: ProviderConfig): void {
    this.#registered.register(provider, config);
    this.#customisedModels.delete(provider);
  }

  unregister(provider: string): void {
    this.#registered.unregister(provider);
    this.#customisedModels.delete(provider);
  }

  /** Reads `models.json` again if it has changed. */
  refresh(): void {
    const file = this.#readFile(this.#file);
    if (file !== this.#file) this.#customisedModels.clear();
    this.#file = file;
  }

  /** The problems of `models.json`, one sentence each. */
  get problems(): readonly string[] {
    return this.#file.content.problems;
  }

  /** The providers of the catalogue, then those of the user's file and of extensions. */
  providers(): readonly string[] {
    const own = this.customised().filter((provider) => (this.settings(provider)?.models ?? []).length > 0);
    return [...new Set([...this.#catalogue.providers(), ...own])];
  }

  providersByPreference(): readonly string[] {
    const known = new Set(this.providers());
    return [...new Set([...preferredProviders.filter((provider) => known.has(provider)), ...known])];
  }

  models(provider: string): readonly Model[] {
    return this.accountModels(provider, this.#allModels(provider));
  }

  #allModels(provider: string): readonly Model[] {
    const settings = this.settings(provider);
    const keepsBuiltIn = this.isBuiltIn(provider) && !this.#registered.hasModels(provider);
    const builtIn = keepsBuiltIn ? this.#catalogue.models(provider) : [];
    if (!settings) return builtIn;
    const list = this.#customisedModels.get(provider) ?? applyCustomisation(provider, builtIn, settings);
    this.#customisedModels.set(provider, list);
    return list;
  }

  /** All models, preferred providers first. */
  inPreferenceOrder(): readonly Model[] {
    return this.providersByPreference().flatMap((provider) => this.models(provider));
  }

  find(provider: string, id: string): Model | undefined {
    return this.models(provider).find((model) => model.id === id);
  }

  isBuiltIn(provider: string): boolean {
    return this.#catalogue.providers().includes(provider);
  }

  /** The providers that the user's file or an extension adds or changes. */
  customised(): readonly string[] {
    return [...new Set([...this.#file.content.providers.keys(), ...this.#registered.names])];
  }

  /** The settings of a provider in the user's file and of extensions. They may contain secrets. */
  settings(provider: string): CustomProvider | undefined {
    return this.#registered.mergedWith(provider, this.#file.content.providers.get(provider));
  }

  /** The fields and functions that extensions have registered. */
  get registered(): Pick<RegisteredProviders, 'configOf' | 'defines' | 'names' | 'signInOf' | 'streamOf'> {
    return this.#registered;
  }

  #readFile(before?: FileSnapshot<ModelsFile>): FileSnapshot<ModelsFile> {
    return readIfChanged(modelsFilePath(this.#agentDir), () => readModelsFile(this.#agentDir), before);
  }
}
