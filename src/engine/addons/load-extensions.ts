import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findFailingExtension } from '../../extend/extensions/extension.ts';
import { Extensions } from '../../extend/extensions/extensions.ts';
import { onUncaughtError } from '../../system/uncaught-errors.ts';
import type { Agent } from '../agent.ts';
import { publishExtensionError } from '../agent-state.ts';
import { type ExtensionServices, extensionHost, publishTools } from './extension-host.ts';
import { type FoundSources, findSources } from './extension-sources.ts';

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
  const extensions: Extensions = new Extensions(extensionHost(agent, services, () => extensions));
  await extensions.load(first.sources);
  if (!(await decidesTrust(agent, extensions))) return { extensions, found: first };
  const found = findSources(agent);
  const isNew = ({ path }: { readonly path: string }) => !first.sources.some((source) => source.path === path);
  await extensions.load(found.sources.filter(isNew));
  return { extensions, found };
}

/** Replaces all extensions synchronously. */
export function replaceExtensions(
  agent: Agent,
  { hooks, dialogs }: ExtensionServices,
  { before, next }: { readonly before: Extensions | undefined; readonly next: Extensions | undefined },
): void {
  const { registry } = agent;
  for (const { providers } of before?.all ?? []) for (const name of providers.keys()) registry.unregister(name);
  for (const { path, providers } of next?.all ?? []) {
    for (const [name, config] of providers) {
      try {
        registry.register(name, config);
      } catch (error) {
        publishExtensionError(agent, path, 'load', error);
      }
    }
  }
  next?.activate();
  // Before everything else that may fail: no gate may be missing.
  hooks.put('extensions', next?.hooks ?? {});
  before?.close();
  dialogs.clearPersistent();
  publishTools(agent, next);
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
