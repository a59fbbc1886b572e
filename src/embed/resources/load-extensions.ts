import { resolve } from 'node:path';
import type { EventBus } from '../../extend/extensions/api/event-bus.ts';
import type { Extension } from '../../extend/extensions/extension.ts';
import type { ExtensionFactory } from '../../extend/extensions/extension-api.ts';
import { type ExtensionSource, findExtensions } from '../../extend/extensions/load/find-extensions.ts';
import { PreloadedExtensions, type PreloadOptions } from '../../extend/extensions/load/preloaded-extensions.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import { checkSettings } from '../../store/settings.ts';
import { openRegistry } from '../models/open-registry.ts';
import { SettingsManager } from '../settings/settings-manager.ts';

/** A loaded extension with its registrations. */
export interface LoadedExtension extends Pick<Extension, 'path' | 'tools' | 'commands' | 'flags'> {
  readonly resolvedPath: string;
  readonly sourceInfo: SourceInfo;
}

/** Where a resource was found. */
export interface SourceInfo {
  readonly path: string;
  readonly source: string;
  readonly scope: 'project' | 'user' | 'temporary';
  readonly origin: 'top-level' | 'package';
  readonly baseDir?: string | undefined;
}

export interface LoadExtensionsResult {
  extensions: LoadedExtension[];
  errors: { path: string; error: string }[];
  /** Connects the extensions to an agent. */
  runtime: ExtensionRuntime;
}

/** An extension without a file: a function, or one with a name. */
export type InlineExtension = ExtensionFactory | { readonly name: string; readonly factory: ExtensionFactory };

/** The link between loaded extensions and the agent that will run them. */
export class ExtensionRuntime {
  /** @internal */
  readonly preloaded: PreloadedExtensions | undefined;
  readonly flagValues = new Map<string, boolean | string>();
  /** The providers that the extensions registered while they loaded. */
  pendingProviderRegistrations: { name: string; config: object; extensionPath: string }[];

  /** @internal */
  constructor(preloaded?: PreloadedExtensions) {
    this.preloaded = preloaded;
    this.pendingProviderRegistrations = (preloaded?.extensions.all ?? []).flatMap(({ path, providers }) =>
      [...providers].map(([name, config]) => ({ name, config, extensionPath: path })),
    );
  }
}

/** A runtime without extensions, for resource loaders of the program. */
export const createExtensionRuntime = (): ExtensionRuntime => new ExtensionRuntime();

export function describeExtension({ path, source, tools, commands, flags }: Extension): LoadedExtension {
  const { scope, origin, baseDir } = source;
  const sourceInfo = { path, source: 'local', scope, origin, baseDir };
  return { path, resolvedPath: path, sourceInfo, tools, commands, flags };
}

/** The sources of inline extensions, by their names. */
export const inlineSources = (inline: readonly InlineExtension[], cwd: string): ExtensionSource[] =>
  inline.map((extension, index) => {
    const { name, factory } =
      typeof extension === 'function' ? { name: String(index + 1), factory: extension } : extension;
    return { path: `<inline:${name}>`, factory, scope: 'temporary', origin: 'top-level', baseDir: cwd };
  });

/** Loads extensions without an agent. */
export async function preload(
  sources: readonly ExtensionSource[],
  options: PreloadOptions,
): Promise<LoadExtensionsResult> {
  const preloaded = await PreloadedExtensions.load(sources, options);
  return {
    extensions: preloaded.extensions.all.map(describeExtension),
    errors: preloaded.errors,
    runtime: new ExtensionRuntime(preloaded),
  };
}

/** The surroundings of extensions that are loaded without an agent. */
export function preloadOptions(manager: SettingsManager, { cwd, folder }: { cwd: string; folder: string }) {
  const { settings } = checkSettings(manager.layers);
  const shell = { cwd, env: process.env, shellPath: settings.shellPath, family: newUuid() };
  return {
    agentDir: folder,
    cwd,
    trusted: manager.isProjectTrusted(),
    settings,
    registry: openRegistry(folder),
    shell,
  };
}

/** Finds and loads the extensions of the user, of a trusted project and of paths. */
export async function discoverAndLoadExtensions(
  ...[paths, cwd, agentFolder, eventBus]: [
    paths: readonly string[],
    cwd: string,
    agentDir?: string,
    eventBus?: EventBus,
  ]
): Promise<LoadExtensionsResult> {
  const folder = agentFolder ?? agentDir(process.env);
  const options = preloadOptions(SettingsManager.create(cwd, folder), { cwd: resolve(cwd), folder });
  const { found } = findExtensions({ ...options, fromFlags: paths, discover: true });
  return preload(found, { ...options, bus: eventBus });
}
