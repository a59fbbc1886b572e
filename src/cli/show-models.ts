import { openModels } from '../engine/open-models.ts';
import type { CliArguments } from './flags.ts';
import { modelList } from './list-models.ts';
import { modelOptionsOf, cliPaths } from './engine-options.ts';
import { printAndExit } from './print-and-exit.ts';

/** `--list-models`: prints the usable models, including those of local servers. */
export async function printModels(args: CliArguments): Promise<number> {
  const { root, project } = cliPaths(args);
  const { registry } = await openModels({ agentDir: root, env: process.env, project, ...modelOptionsOf(args) });
  await registry.discoverLocalModels();
  for (const problem of registry.problems) process.stderr.write(`tau: ${problem}\n`);
  return printAndExit(modelList(registry.available(), args.positionals.join(' ') || undefined));
}
