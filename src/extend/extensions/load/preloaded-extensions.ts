import type { ShellOptions } from '../../../agent/tools/bash/shell.ts';
import type { ModelRegistry } from '../../../model/registry/registry.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { Settings } from '../../../store/settings.ts';
import { ExtensionMcpServers } from '../../mcp/extension-servers.ts';
import type { EventBus } from '../api/event-bus.ts';
import { execWith } from '../api/exec.ts';
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

/** The parts of the agent that loading extensions use. */
type EarlyHost = Pick<
  ExtensionHost,
  'agentDir' | 'registry' | 'shell' | 'exec' | 'project' | 'flags' | 'blamable' | 'mcpServers' | 'reportFailure' | 'sdk'
>;

/** Extensions that are loaded before their agent exists. Until `attach` they may register, but not act. */
export class PreloadedExtensions {
  readonly extensions: Extensions;
  readonly errors: { path: string; error: string }[] = [];
  readonly #mcpServers = new ExtensionMcpServers(() => {});
  #agent: ExtensionHost | undefined;
  #isClosed = false;

  private constructor(options: PreloadOptions) {
    const { agentDir, cwd, trusted, settings, registry, shell, sdk } = options;
    const currentShell = () => this.#agent?.shell() ?? shell;
    const early: EarlyHost = {
      agentDir,
      registry,
      shell: currentShell,
      exec: execWith(currentShell),
      project: () => this.#agent?.project() ?? { cwd, trusted, settings },
      flags: new Map(),
      blamable: new Set(),
      mcpServers: this.#mcpServers,
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

  /** Gives the extensions to an agent; undefined if another one has them, or if they are closed. */
  attach(host: ExtensionHost): Extensions | undefined {
    if (this.#agent || this.#isClosed) return undefined;
    this.#agent = host;
    for (const { source } of this.extensions.all) host.blamable.add(source);
    this.#mcpServers.moveTo(host.mcpServers, this.extensions.all, (path, error) =>
      host.reportFailure(path, 'load', error),
    );
    return this.extensions;
  }

  /** Closes the extensions unless they belong to an agent. */
  close(): void {
    if (this.#agent) return;
    this.#isClosed = true;
    this.extensions.close();
  }
}
