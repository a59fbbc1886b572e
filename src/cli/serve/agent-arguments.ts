import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { type CliArguments, type Flag, type FlagName, flags } from '../flags.ts';
import { forwardedFlags } from '../server-flags.ts';

/** Flags whose values are paths. */
const PATHS: ReadonlySet<FlagName> = new Set(['extension', 'skill', 'prompt-template', 'script']);

/** Flags whose values are paths where something is there, and words otherwise. */
const TEXTS_OR_PATHS: ReadonlySet<FlagName> = new Set(['system-prompt', 'append-system-prompt']);

/** The arguments of agents, as the command line of the server has them. Agents run in other folders: paths are whole. */
export function agentArguments(args: CliArguments): string[] {
  return forwardedFlags.flatMap((name) => {
    const given: string | readonly string[] | undefined = args[name];
    if (given === undefined) return [];
    if ((flags[name] as Flag).value === undefined) return [`--${name}`];
    return [given].flat().flatMap((value) => flagWithValue(name, resolvePath(name, value)));
  });
}

function resolvePath(name: FlagName, value: string): string {
  const path = resolve(expandHome(value));
  return PATHS.has(name) || (TEXTS_OR_PATHS.has(name) && existsSync(path)) ? path : value;
}

/** A value that looks like a flag must not be taken for one. */
const flagWithValue = (name: FlagName, value: string) =>
  value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
