import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { isObject } from '../protocol/json.ts';
import { isHeaderName, isHttpUrl } from './http-syntax.ts';
import { readJsonObject } from './json-file.ts';
import { parseLenient } from './lenient-json.ts';

/** An MCP server in `mcp.json`: an enabled one has either a command or a url. */
export interface McpEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: StringMap;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: StringMap;
  readonly timeoutMs?: number;
  readonly disabled: boolean;
  /** Working directory for resolving `env` and `headers` (see `resolveValue`); without it they are literal. */
  readonly folder?: string;
}

type StringMap = Readonly<Record<string, string>>;

export interface McpFiles {
  readonly servers: ReadonlyMap<string, McpEntry>;
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
}

/** An entry as a file holds it. */
interface RawMcpEntry extends Omit<McpEntry, 'disabled' | 'folder'> {
  readonly type?: string;
  readonly timeout?: number;
  readonly disabled?: boolean;
  readonly enabled?: boolean;
}

const nonEmpty: Schema = { type: 'string', minLength: 1 };
const duration: Schema = { type: 'number', minimum: 1 };

const fields: Readonly<Record<keyof RawMcpEntry, Schema>> = {
  type: nonEmpty,
  command: nonEmpty,
  args: { type: 'array', items: { type: 'string' } },
  env: { type: 'object' },
  cwd: nonEmpty,
  url: nonEmpty,
  headers: { type: 'object' },
  timeoutMs: duration,
  timeout: duration,
  disabled: { type: 'boolean' },
  enabled: { type: 'boolean' },
};

const stdioTypes = ['stdio'];
const httpTypes = ['http', 'streamable-http', 'streamableHttp'];

/**
 * Reads the user's MCP servers and, in a trusted project, the project's, which override them by name.
 *
 * Never throws and never writes: an invalid server is ignored alone, and so is a malformed file.
 */
export function readMcpFiles(options: { agentDir: string; cwd: string; trusted: boolean }): McpFiles {
  const servers = new Map<string, McpEntry>();
  const problems: string[] = [];
  const readServers = (path: string) => {
    try {
      for (const [name, value] of Object.entries(serversIn(path))) {
        const entry = parseMcpEntry(`mcpServers.${name}`, value);
        if (typeof entry === 'string') problems.push(`${path}: ${entry}`);
        else servers.set(name, { ...entry, folder: dirname(path) });
      }
    } catch (error) {
      problems.push(`${path}: ${messageOf(error)}`);
    }
  };
  const userFile = join(options.agentDir, 'mcp.json');
  readServers(userFile);
  for (const folder of [join(options.cwd, '.pi', 'agent'), join(options.cwd, '.pi')]) {
    const path = join(folder, 'mcp.json');
    if (path === userFile) continue;
    if (options.trusted) readServers(path);
    else if (existsSync(path)) problems.push(`${path} is left out: the project is not trusted`);
  }
  return { servers, problems };
}

function serversIn(path: string): Readonly<Record<string, unknown>> {
  const { mcpServers = {} } = readJsonObject(path, parseLenient) ?? {};
  if (!isObject(mcpServers)) throw new Error('mcpServers must be an object');
  return mcpServers;
}

/** Parses one server; returns an error that names this location if it is invalid. */
export function parseMcpEntry(location: string, value: unknown): McpEntry | string {
  const schemaProblem = check(
    { type: 'object', properties: { server: { type: 'object', properties: fields } } },
    { server: value },
  );
  if (schemaProblem !== undefined) return schemaProblem.replace('server', location);
  const { type, timeout, timeoutMs = timeout, disabled, enabled = true, ...rest } = value as RawMcpEntry;
  const isDisabled = disabled ?? !enabled;
  const problem = isDisabled ? undefined : problemOf(rest, type);
  if (problem !== undefined) return `${location}${problem}`;
  const { command, args, env, cwd, url, headers } = rest;
  return withoutUndefined({ command, args, env, cwd, url, headers, timeoutMs, disabled: isDisabled }) as McpEntry;
}

function problemOf({ command, url, env = {}, headers = {} }: Partial<RawMcpEntry>, type: string | undefined) {
  if (command === undefined && url === undefined) return ' needs a command or a url';
  if (command !== undefined && url !== undefined) return ' has both a command and a url: one of them is meant';
  const types = command === undefined ? httpTypes : stdioTypes;
  if (type !== undefined && !types.includes(type)) return `.type must be ${types.join(' or ')}`;
  if (url !== undefined && !isHttpUrl(url)) return '.url must be an http or https URL, without a password';
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) return '.headers must hold only names that HTTP allows';
    if (typeof value !== 'string') return `.headers.${name} must be a string`;
  }
  for (const [name, value] of Object.entries(env)) {
    if (name === '' || /[=\0]/.test(name)) return '.env must hold only names of variables';
    if (typeof value !== 'string') return `.env.${name} must be a string`;
  }
  return undefined;
}

const withoutUndefined = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
