import { dirname, join, resolve } from 'node:path';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { ThinkingLevel } from '../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { agentDir, expandHome } from '../../store/agent-dir.ts';
import { type SettingsLayer, withoutUserSettings } from '../../store/settings.ts';
import { TrustStore } from '../../store/trust.ts';
import { SettingsAccessors, type SettingsScope } from './settings-accessors.ts';
import {
  fileBackend,
  memoryBackend,
  type SettingsBackend,
  type SettingsStorage,
  storageBackend,
} from './settings-storage.ts';

/** Options of the static methods of `SettingsManager`. */
export interface SettingsManagerCreateOptions {
  /** False: the settings of the project are not read. */
  readonly projectTrusted?: boolean | undefined;
}

/** Settings that could not be read or written. */
export interface SettingsError {
  readonly scope: SettingsScope;
  readonly path?: string | undefined;
  readonly error: Error;
}

// Errors that `drainErrors` has not returned yet.
const MAX_SETTINGS_ERRORS = 100;

interface ModelName {
  readonly provider: string;
  readonly id: string;
}

/**
 * Settings under pi's names. A setter takes effect at once and is written in the background; keys that tau does not
 * know are kept.
 */
export class SettingsManager extends SettingsAccessors {
  readonly #backend: SettingsBackend;
  readonly #overrides: JsonObject = {};
  #layers: Record<SettingsScope, JsonObject> = { global: {}, project: {} };
  #projectTrusted: boolean;
  #writing: Promise<void> = Promise.resolve();
  #errors: SettingsError[] = [];
  readonly #listeners = new Set<() => void>();

  private constructor(backend: SettingsBackend, { projectTrusted = true }: SettingsManagerCreateOptions = {}) {
    super();
    this.#backend = backend;
    this.#projectTrusted = projectTrusted;
    this.#load();
  }

  /** The settings files of the user and of a project. A project counts as trusted if the user has trusted it. */
  static create(cwd: string, agentFolder?: string, options: SettingsManagerCreateOptions = {}): SettingsManager {
    const root = agentFolder ?? agentDir(process.env);
    const projectTrusted = options.projectTrusted ?? new TrustStore(root).isTrusted(resolve(cwd)) === true;
    return new SettingsManager(fileBackend(resolve(cwd), root), { projectTrusted });
  }

  /** @internal The settings files, which are only read: setters act on this object alone. */
  static reading(cwd: string, agentFolder: string, options: SettingsManagerCreateOptions): SettingsManager {
    const files = fileBackend(cwd, agentFolder);
    return new SettingsManager({ ...files, change: async () => {} }, options);
  }

  /** Settings that are never written to a file. */
  static inMemory(settings: object = {}, options?: SettingsManagerCreateOptions): SettingsManager {
    return new SettingsManager(memoryBackend(settings as JsonObject), options);
  }

  static fromStorage(storage: SettingsStorage, options?: SettingsManagerCreateOptions): SettingsManager {
    return new SettingsManager(storageBackend(storage), options);
  }

  /** The effective settings: those of the project override those of the user. */
  getSettings(): JsonObject {
    return [this.#layers.global, this.#projectTrusted ? this.#layers.project : {}, this.#overrides]
      .map((layer) => structuredClone(layer))
      .reduce(mergeGroups);
  }

  getGlobalSettings(): JsonObject {
    return structuredClone(this.#layers.global);
  }

  getProjectSettings(): JsonObject {
    return structuredClone(this.#projectTrusted ? this.#layers.project : {});
  }

  isProjectTrusted(): boolean {
    return this.#projectTrusted;
  }

  setProjectTrusted(trusted: boolean): void {
    this.#projectTrusted = trusted;
    this.#notify();
  }

  /** Reads the settings again after all writes. Overrides stay. */
  async reload(): Promise<void> {
    await this.flush();
    this.#load();
    this.#notify();
  }

  /** Overrides settings without writing them. */
  applyOverrides(overrides: object): void {
    Object.assign(this.#overrides, mergeGroups(this.#overrides, structuredClone(overrides) as JsonObject));
    this.#notify();
  }

  /** Settles when everything set so far is written or has failed. */
  async flush(): Promise<void> {
    await this.#writing;
  }

  /** The latest errors since the last call, up to `MAX_SETTINGS_ERRORS`. */
  drainErrors(): SettingsError[] {
    return this.#errors.splice(0);
  }

  /** @internal All settings, weakest first. */
  get layers(): SettingsLayer[] {
    const folderOf = (scope: SettingsScope) => dirname(this.#backend.path?.(scope) ?? join(process.cwd(), 'settings'));
    return [
      { values: this.#layers.global, folder: folderOf('global') },
      { values: withoutUserSettings(this.getProjectSettings()), folder: folderOf('project') },
      { values: this.#overrides, folder: process.cwd() },
    ];
  }

  /** @internal Calls the listener after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  override read(key: string): unknown {
    const value = lookUp(this.getSettings(), key.split('.'));
    return structuredClone(value);
  }

  override write(scope: SettingsScope, key: string, value: unknown): void {
    if (scope === 'project' && !this.#projectTrusted)
      throw new Refusal('permission_denied', 'The settings of a project that is not trusted are not written');
    const path = key.split('.');
    // Written later: the caller may have changed its object by then.
    const own = structuredClone(value);
    const change = (before: JsonObject) => withValue(before, path, own);
    this.#layers[scope] = change(this.#layers[scope]);
    dropValue(this.#overrides, path);
    // Before the listeners, which may throw or set a value themselves.
    this.#writing = this.#writing
      .then(() => this.#backend.change(scope, change))
      .catch((error: unknown) => this.#report(scope, error));
    this.#notify();
  }

  getSessionDir(): string | undefined {
    const folder = this.read('sessionDir');
    return typeof folder === 'string' ? expandHome(folder) : undefined;
  }

  setDefaultModelAndProvider(provider: string, modelId: string): void {
    this.setDefaultProvider(provider);
    this.setDefaultModel(modelId);
  }

  getThemeSetting(): string | undefined {
    return this.getTheme();
  }

  getAllModelThinkingLevels(): Record<string, ThinkingLevel> {
    return (this.read('modelThinkingLevels') ?? {}) as Record<string, ThinkingLevel>;
  }

  getModelThinkingLevel(provider: string, modelId: string): ThinkingLevel | undefined {
    return this.getAllModelThinkingLevels()[`${provider}/${modelId}`];
  }

  setModelThinkingLevel(provider: string, modelId: string, level: ThinkingLevel): void {
    this.write('global', 'modelThinkingLevels', {
      ...this.getAllModelThinkingLevels(),
      [`${provider}/${modelId}`]: level,
    });
  }

  removeModelThinkingLevel(provider: string, modelId: string): void {
    const { [`${provider}/${modelId}`]: _removed, ...others } = this.getAllModelThinkingLevels();
    this.write('global', 'modelThinkingLevels', others);
  }

  getCompactionReserveTokens(model?: ModelName): number {
    return this.#compactionTokens('reserveTokens', model) ?? 16_384;
  }

  getCompactionKeepRecentTokens(model?: ModelName): number {
    return this.#compactionTokens('keepRecentTokens', model) ?? 20_000;
  }

  getCompactionSettings(model?: ModelName): { enabled: boolean; reserveTokens: number; keepRecentTokens: number } {
    return {
      enabled: this.getCompactionEnabled(),
      reserveTokens: this.getCompactionReserveTokens(model),
      keepRecentTokens: this.getCompactionKeepRecentTokens(model),
    };
  }

  getBranchSummarySettings(): { reserveTokens: number; skipPrompt: boolean } {
    const { reserveTokens = 16_384, skipPrompt = false } = this.#group('branchSummary');
    return { reserveTokens: Number(reserveTokens), skipPrompt: skipPrompt === true };
  }

  getBranchSummarySkipPrompt(): boolean {
    return this.getBranchSummarySettings().skipPrompt;
  }

  getRetrySettings(): { enabled: boolean; maxRetries: number; baseDelayMs: number; maxAgentDelayMs: number } {
    const { maxRetries = 3, baseDelayMs = 2000, maxAgentDelayMs = 60_000 } = this.#group('retry');
    return {
      enabled: this.getRetryEnabled(),
      maxRetries: Number(maxRetries),
      baseDelayMs: Number(baseDelayMs),
      maxAgentDelayMs: Number(maxAgentDelayMs),
    };
  }

  getProviderRetrySettings(): { timeoutMs?: number; maxRetries?: number; maxRetryDelayMs: number } {
    return { maxRetryDelayMs: 60_000, ...(this.read('retry.provider') as object | undefined) };
  }

  getWebSocketConnectTimeoutMs(): number | undefined {
    return this.read('websocketConnectTimeoutMs') as number | undefined;
  }

  getThinkingBudgets(): Partial<Record<ThinkingLevel, number>> | undefined {
    return this.read('thinkingBudgets') as Partial<Record<ThinkingLevel, number>> | undefined;
  }

  getDefaultTools(): string[] | undefined {
    return this.read('defaultTools') as string[] | undefined;
  }

  getCodeBlockIndent(): string {
    return String(this.read('markdown.codeBlockIndent') ?? '  ');
  }

  #compactionTokens(name: string, model: ModelName | undefined): number | undefined {
    const group = this.#group('compaction');
    const overrides = isObject(group['modelOverrides']) ? group['modelOverrides'] : {};
    const own = model ? overrides[`${model.provider}/${model.id}`] : undefined;
    const value = (isObject(own) ? own[name] : undefined) ?? group[name];
    return typeof value === 'number' ? value : undefined;
  }

  #group(name: string): JsonObject {
    const group = this.read(name);
    return isObject(group) ? group : {};
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }

  #load(): void {
    this.#layers = { global: this.#readScope('global'), project: this.#readScope('project') };
  }

  #readScope(scope: SettingsScope): JsonObject {
    try {
      return this.#backend.read(scope);
    } catch (error) {
      this.#report(scope, error);
      return {};
    }
  }

  #report(scope: SettingsScope, error: unknown): void {
    const cause = error instanceof Error ? error : new Error(messageOf(error));
    if (this.#errors.length >= MAX_SETTINGS_ERRORS) this.#errors.shift();
    this.#errors.push({ scope, path: this.#backend.path?.(scope), error: cause });
  }
}

const lookUp = (values: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), values);

function withValue(before: JsonObject, [key = '', ...rest]: readonly string[], value: unknown): JsonObject {
  const { [key]: old, ...others } = before;
  const next = rest.length === 0 ? value : withValue(isObject(old) ? old : {}, rest, value);
  return next === undefined ? others : { ...before, [key]: next };
}

/** Removes an override: a value that is set later applies. */
function dropValue(values: JsonObject, path: readonly string[]): void {
  const group = lookUp(values, path.slice(0, -1));
  if (isObject(group)) delete group[path.at(-1) ?? ''];
}

function mergeGroups(before: JsonObject, changed: JsonObject): JsonObject {
  const merged = { ...before };
  for (const [name, value] of Object.entries(changed)) {
    const old = merged[name];
    merged[name] = isObject(old) && isObject(value) ? mergeGroups(old, value) : value;
  }
  return merged;
}
