import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { expandHome } from '../../store/agent-dir.ts';
import { resolveValue } from '../../store/config-value.ts';
import type { McpEntry, McpOAuthSettings } from '../../store/mcp/mcp-file.ts';
import type { ProgramOptions } from '../../system/processes/process-group.ts';

/** The longest wait for a server, whatever its entry allows and however much progress it reports. */
export const MAX_WAIT_MS = 10 * 60 * 1000;

type Environment = Readonly<Record<string, string | undefined>>;

/** The environment in which servers are started. */
export interface ServerEnv {
  /** Environment variables of a program, before its own. */
  readonly env: Environment;
  /** Variables that configured values may refer to. */
  readonly variables: Environment;
  /** The process tag of the servers. */
  readonly family: string;
  readonly cwd: string;
}

/** How to reach a server, with all references resolved. */
export interface McpTarget {
  readonly endpoint: { readonly program: ProgramOptions } | WebEndpoint;
  /** Values to redact from messages. */
  readonly secrets: readonly string[];
}

/** A server at an address. */
export interface WebEndpoint {
  readonly url: string;
  readonly headers: StringMap;
  /** Uses the older transport from the start. */
  readonly isSse: boolean;
  /** Absent for a server that has its credentials in `headers` or needs none. */
  readonly signIn: McpOAuthSettings | undefined;
}

type StringMap = Readonly<Record<string, string>>;

/** Resolves the references in an entry; rejects with the name of a missing one. */
export async function resolveTarget(entry: McpEntry, environment: ServerEnv, signal: AbortSignal): Promise<McpTarget> {
  const resolveAll = async (values: StringMap = {}) => {
    const found = Object.entries(values).map(async ([name, value]) => [name, await resolveOne(value)] as const);
    return Object.fromEntries(await Promise.all(found));
  };
  const resolveOne = (value: string) =>
    entry.folder === undefined
      ? Promise.resolve(value)
      : resolveValue(value, { env: environment.variables, cwd: entry.folder, signal });
  if (entry.url !== undefined) {
    const headers = await resolveAll(entry.headers);
    const { url, oauth, isSse = false } = entry;
    const hasCredential = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
    const settings = oauth ?? (hasCredential ? false : {});
    const { clientSecret } = settings || {};
    const secret = clientSecret === undefined ? {} : { clientSecret: await resolveOne(clientSecret) };
    const secrets = [...Object.values(headers), ...Object.values(secret), new URL(url).search];
    return { endpoint: { url, headers, isSse, signIn: settings ? { ...settings, ...secret } : undefined }, secrets };
  }
  const env = await resolveAll(entry.env);
  const cwd = resolve(environment.cwd, expandHome(entry.cwd ?? '.'));
  if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`there is no folder ${cwd}`);
  const [command = '', ...args] = [entry.command ?? '', ...(entry.args ?? [])].map((word) => expandHome(word));
  const program = { command, args, cwd, family: environment.family };
  return { endpoint: { program: { ...program, env: { ...environment.env, ...env } } }, secrets: Object.values(env) };
}
