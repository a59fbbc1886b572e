import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { type Arguments, type Flag, type FlagName, flags } from '../flags.ts';
import { agentFlags } from '../server-flags.ts';

/** Flags whose values are paths. */
const PATHS: ReadonlySet<FlagName> = new Set(['extension', 'skill', 'prompt-template', 'script']);

/** Flags whose values are paths where something is there, and words otherwise. */
const WORDS_OR_PATHS: ReadonlySet<FlagName> = new Set(['system-prompt', 'append-system-prompt']);

/** The arguments of agents, as the command line of the server has them. Agents run in other folders: paths are whole. */
export function agentArguments(args: Arguments): string[] {
  return agentFlags.flatMap((name) => {
    const said: string | readonly string[] | undefined = args[name];
    if (said === undefined) return [];
    if ((flags[name] as Flag).value === undefined) return [`--${name}`];
    return [said].flat().flatMap((value) => words(name, placed(name, value)));
  });
}

function placed(name: FlagName, value: string): string {
  const path = resolve(expandHome(value));
  return PATHS.has(name) || (WORDS_OR_PATHS.has(name) && existsSync(path)) ? path : value;
}

/** A value that looks like a flag must not be taken for one. */
const words = (name: FlagName, value: string) =>
  value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
