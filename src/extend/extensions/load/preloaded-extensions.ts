import type { ShellOptions } from '../../../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { Settings } from '../../../store/settings.ts';
import type { EventBus } from '../api/event-bus.ts';
import { Extensions } from '../extensions.ts';
import type { ExtensionHost } from '../host.ts';
import type { SdkLoader } from '../pi-shims/extension-environment.ts';
import type { ExtensionSource } from './find-extensions.ts';

/** The surroundings of extensions that no agent uses yet. */
export interface PreloadOptions {
  readonly agentDir: string;
  readonly cwd: string;
  readonly trusted: boolean;
  readonly settings: Settings;
  readonly registry: ModelRegistry;
  readonly shell: ShellOptions;
  readonly sdk?: SdkLoader | undefined;
  readonly bus?: EventBus | undefined;
}

/** Extensions that are loaded before their agent exists. Until `attach` they may register, but not act. */
export class PreloadedExtensions {
  readonly extensions: Extensions;
  readonly errors: { path: string; error: string }[] = [];
  #agent: ExtensionHost | undefined;

  private constructor(options: PreloadOptions) {
    const { agentDir, cwd, trusted, settings, registry, shell, sdk } = options;
    const early: Partial<ExtensionHost> = {
      agentDir,
      registry,
      shell: () => this.#agent?.shell() ?? shell,
      project: () => this.#agent?.project() ?? { cwd, trusted, settings },
      flags: new Map(),
      blamable: new Set(),
      ...(sdk ? { sdk } : {}),
      reportFailure: (path, _event, error) => void this.errors.push({ path, error: messageOf(error) }),
    };
    const host = new Proxy(early, { get: (target, key) => Reflect.get(this.#agent ?? target, key) });
    this.extensions = new Extensions(host as ExtensionHost, options.bus);
  }

  /** Loads the extensions in order; one that fails is an error of the result. */
  static async load(sources: readonly ExtensionSource[], options: PreloadOptions): Promise<PreloadedExtensions> {
    const preloaded = new PreloadedExtensions(options);
    await preloaded.extensions.load(sources);
    return preloaded;
  }

  /** Gives the extensions to an agent; undefined if another one has them. */
  attach(host: ExtensionHost): Extensions | undefined {
    if (this.#agent) return undefined;
    this.#agent = host;
    for (const { source } of this.extensions.all) host.blamable.add(source);
    return this.extensions;
  }
}
