import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { type CliArguments, type Flag, type FlagName, flags } from '../flags/flags.ts';
import { forwardedFlags } from '../flags/server-flags.ts';

const PATHS: ReadonlySet<FlagName> = new Set(['extension', 'skill', 'prompt-template', 'script']);

// Flags whose values are paths if the path exists, and text otherwise.
const TEXTS_OR_PATHS: ReadonlySet<FlagName> = new Set(['system-prompt', 'append-system-prompt']);

/** The arguments that `tau serve` passes to its agents. Paths are absolute, because agents run in other folders. */
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

/** A value that starts with a dash needs the form with an equals sign. */
const flagWithValue = (name: FlagName, value: string) =>
  value.startsWith('-') ? [`--${name}=${value}`] : [`--${name}`, value];
