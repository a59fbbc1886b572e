import { basename, dirname, resolve } from 'node:path';
import { streamTimeouts } from '../../model/endpoint.ts';
import { openModels } from '../../model/registry/loaded-models.ts';
import { ModelRegistry } from '../../model/registry/registry.ts';
import { Refusal } from '../../protocol/errors.ts';
import { agentDir } from '../../store/agent-dir.ts';

/** The files of models and keys. Both must have their usual names and be in one folder. */
export interface ModelFiles {
  readonly authPath?: string | undefined;
  readonly modelsPath?: string | null | undefined;
}

/** The folder of these files; that of the agent by default. Throws a `Refusal` if tau cannot read them. */
export function folderOf({ authPath, modelsPath }: ModelFiles): string {
  if (modelsPath === null) throw new Refusal('not_supported', 'modelsPath: null is not supported: leave it out');
  const files = [
    { path: authPath, name: 'auth.json' },
    { path: modelsPath, name: 'models.json' },
  ];
  const folders = files.flatMap(({ path, name }) => {
    if (path === undefined) return [];
    if (basename(path) !== name) throw new Refusal('not_supported', `${path} must have the name ${name}`);
    return [dirname(resolve(path))];
  });
  const [folder = agentDir(process.env), other = folder] = folders;
  if (other !== folder) throw new Refusal('not_supported', 'auth.json and models.json must be in one folder');
  return folder;
}

/** Opens the models and keys of a folder, without an agent. */
export function openRegistry(
  folder: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
): ModelRegistry {
  const loaded = openModels({ agentDir: folder, env });
  return new ModelRegistry({ agentDir: folder, env, folderOptions: { timeouts: streamTimeouts({}) }, loaded });
}
