import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { resolveValue } from '../../store/config-value.ts';
import type { McpEntry } from '../../store/mcp-file.ts';
import type { ProgramOptions } from '../../system/processes/process-group.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where servers live. */
export interface ServerPlace {
  /** What a program is told, besides its own variables. */
  readonly env: Environment;
  /** Where values that refer to the environment are looked up. */
  readonly variables: Environment;
  /** Whose processes the servers are. */
  readonly family: string;
  readonly cwd: string;
}

/** How a server is reached, with everything looked up. */
export interface Target {
  readonly way: { readonly program: ProgramOptions } | { readonly url: string; readonly headers: Words };
  /** What was given in confidence: it goes to the server and nowhere else. */
  readonly secrets: readonly string[];
}

type Words = Readonly<Record<string, string>>;

/** Looks up what an entry refers to; rejects, naming what is not there. */
export async function targetOf(entry: McpEntry, place: ServerPlace, signal: AbortSignal): Promise<Target> {
  const words = async (values: Words = {}) => {
    const found = Object.entries(values).map(async ([name, value]) => [name, await wordOf(value)] as const);
    return Object.fromEntries(await Promise.all(found));
  };
  const wordOf = (value: string) =>
    entry.folder === undefined
      ? Promise.resolve(value)
      : resolveValue(value, { env: place.variables, cwd: entry.folder, signal });
  if (entry.url !== undefined) {
    const headers = await words(entry.headers);
    return { way: { url: entry.url, headers }, secrets: [...Object.values(headers), new URL(entry.url).search] };
  }
  const env = await words(entry.env);
  const cwd = resolve(place.cwd, expandHome(entry.cwd ?? '.'));
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`there is no folder ${cwd}`);
  const program = { command: expandHome(entry.command ?? ''), args: entry.args ?? [], cwd, family: place.family };
  return { way: { program: { ...program, env: { ...place.env, ...env } } }, secrets: Object.values(env) };
}
