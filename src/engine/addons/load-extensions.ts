import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { provideRipgrep } from '../../agent/tools/search/provide-ripgrep.ts';
import { findFailingExtension } from '../../extend/extensions/extension.ts';
import { Extensions } from '../../extend/extensions/extensions.ts';
import { onUncaughtError } from '../../system/uncaught-errors.ts';
import type { Agent } from '../agent.ts';
import { publishExtensionError } from '../agent-state.ts';
import { type ExtensionServices, extensionHost, publishTools } from './extension-host.ts';
import { type FoundSources, findSources } from './extension-sources.ts';

export { refreshModels } from './refresh-models.ts';

/**
 * Loads the found extensions. Those of a project load only if it is trusted; extensions of the user may decide that.
 * They cannot act on the agent before `replaceExtensions`.
 */
export async function loadExtensions(
  agent: Agent,
  services: ExtensionServices,
  first: FoundSources,
): Promise<{ readonly extensions: Extensions | undefined; readonly found: FoundSources }> {
  if (first.sources.length === 0) return { extensions: undefined, found: first };
  // For programs that extensions start, by `pi.exec` or by themselves.
  await provideRipgrep(agent.shell);
  const host = extensionHost(agent, services, () => extensions);
  const extensions: Extensions = agent.addonPaths.options.preloaded?.attach(host) ?? new Extensions(host);
  const isLoaded = ({ path }: { readonly path: string }) => extensions.all.some((one) => one.path === path);
  await extensions.load(first.sources.filter((source) => !isLoaded(source)));
  if (!(await decidesTrust(agent, extensions))) return { extensions, found: first };
  const found = findSources(agent);
  const isNew = ({ path }: { readonly path: string }) => !first.sources.some((source) => source.path === path);
  await extensions.load(found.sources.filter(isNew));
  return { extensions, found };
}

/** Replaces all extensions synchronously. */
export function replaceExtensions(
  agent: Agent,
  { hooks, dialogs, mcpServers, modelRefreshes }: ExtensionServices,
  { before, next }: { readonly before: Extensions | undefined; readonly next: Extensions | undefined },
): void {
  modelRefreshes.stopAll();
  replaceModels(agent, before, next);
  next?.activate();
  // Before everything else that may fail: no gate may be missing.
  hooks.put('extensions', next?.hooks ?? {});
  for (const extension of before?.all ?? []) mcpServers.removeAll(extension);
  before?.close();
  dialogs.clearPersistent();
  publishTools(agent, next);
}

function replaceModels(agent: Agent, before: Extensions | undefined, next: Extensions | undefined): void {
  const { registry } = agent;
  for (const { providers, virtualModels } of before?.all ?? []) {
    for (const name of providers.keys()) registry.unregister(name);
    for (const { provider, id } of virtualModels.values()) registry.virtual.unregister(provider, id);
  }
  for (const { path, providers, virtualModels } of next?.all ?? []) {
    const attempt = (register: () => void) => {
      try {
        register();
      } catch (error) {
        publishExtensionError(agent, path, 'load', error);
      }
    };
    for (const [name, config] of providers) attempt(() => registry.register(name, config));
    for (const definition of virtualModels.values()) attempt(() => registry.virtual.register(definition));
  }
}

/** Reports uncaught errors of extensions instead of ending the process. Returns how to stop. */
export function catchUncaughtErrors(agent: Agent, { blamable }: Pick<ExtensionServices, 'blamable'>): () => void {
  return onUncaughtError((error) => {
    const path = findFailingExtension(error, blamable);
    if (path !== undefined) publishExtensionError(agent, path, 'uncaught', error);
    return path !== undefined;
  });
}

/** Whether an extension decides to trust the project. */
async function decidesTrust({ project, currentProject }: Agent, extensions: Extensions): Promise<boolean> {
  const hasProjectFolder = existsSync(join(project.cwd, '.pi'));
  if (project.isTrustDecided || !hasProjectFolder || !extensions.handles('project_trust')) return false;
  const verdict = await extensions.projectTrust(project.cwd);
  if (!verdict) return false;
  await currentProject.decideTrust(verdict);
  return verdict.trusted;
}
