import { openModels } from '../engine/open-models.ts';
import type { Arguments } from './flags.ts';
import { modelList } from './list-models.ts';
import { modelWishes, surroundings } from './options.ts';
import { say } from './say.ts';

/** Lists the models that can be used now, those of servers on this machine too. */
export async function showModels(args: Arguments): Promise<number> {
  const { root, project } = surroundings(args);
  const { registry } = await openModels({ agentDir: root, env: process.env, project, ...modelWishes(args) });
  await registry.discoverLocalModels();
  for (const problem of registry.problems) process.stderr.write(`tau: ${problem}\n`);
  return say(modelList(registry.available(), args.positionals.join(' ') || undefined));
}
