import { hasExtensions } from '../engine/addons/detect.ts';
import { type Arguments, flags, UnknownWord } from './flags.ts';
import { surroundings } from './options.ts';

/** Lets flags pass that tau does not know where an extension may know them. */
export function checkUnknown(args: Arguments): void {
  const [name] = args.unknown.keys();
  if (name === undefined || isForExtensions(args)) return;
  const known = Object.keys(flags).map((flag) => `--${flag}`);
  throw new UnknownWord(`Unknown option: --${name}`, { word: `--${name}`, known });
}

function isForExtensions(args: Arguments): boolean {
  const opensAgent =
    args.mode !== undefined || args.print !== undefined || ['chat', undefined].includes(args.positionals[0]);
  if (!opensAgent) return false;
  const { root, cwd, project } = surroundings(args);
  const wishes = { extensions: args.extension, findExtensions: args['no-extensions'] === undefined };
  return hasExtensions({ agentDir: root, cwd, settings: project.settings, options: wishes });
}
