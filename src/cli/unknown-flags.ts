import { hasExtensions } from '../engine/addons/detect.ts';
import { type CliArguments, flags, UnknownWordError } from './flags.ts';
import { cliPaths } from './engine-options.ts';

/** Rejects unknown flags unless an extension may define them. */
export function checkUnknownFlags(args: CliArguments): void {
  const [name] = args.unknown.keys();
  if (name === undefined || mayBelongToExtension(args)) return;
  const known = Object.keys(flags).map((flag) => `--${flag}`);
  throw new UnknownWordError(`Unknown option: --${name}`, { word: `--${name}`, known });
}

function mayBelongToExtension(args: CliArguments): boolean {
  const opensAgent =
    args.mode !== undefined || args.print !== undefined || ['chat', undefined].includes(args.positionals[0]);
  if (!opensAgent) return false;
  const { root, cwd, project } = cliPaths(args);
  const addonOptions = { extensions: args.extension, findExtensions: args['no-extensions'] === undefined };
  return hasExtensions({ agentDir: root, cwd, settings: project.settings, options: addonOptions });
}
