import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { check, type Schema } from '../../protocol/check.ts';
import { messageOf } from '../../protocol/errors.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { wildcardTest } from '../../protocol/matching/wildcards.ts';
import { isHeaderName, isHttpUrl } from '../http-syntax.ts';
import { readJsonObject } from '../json-file.ts';
import { parseLenient } from '../lenient-json.ts';

/** An MCP server in `mcp.json`: an enabled one has either a command or a url. */
export interface McpEntry {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: StringMap;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: StringMap;
  /** The server uses the older transport: HTTP with server-sent events. */
  readonly isSse?: true;
  /** How to sign in; `false` never does. */
  readonly oauth?: McpOAuthSettings | false;
  readonly timeoutMs?: number;
  readonly disabled: boolean;
  /** How pi offers the tools. tau distinguishes `hidden` only. */
  readonly exposure?: string;
  /** The exposure of single tools, by name or by a pattern with `*`. */
  readonly toolExposure?: StringMap;
  /** Working directory for resolving `env` and `headers` (see `resolveValue`); without it they are literal. */
  readonly folder?: string;
}

/** Settings of a sign-in, for authorization servers where the defaults do not work. */
export interface McpOAuthSettings {
  /** A client that is registered already; without it tau registers one. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientName?: string;
  /** The address of a document that describes the client, used as its id where the server accepts that. */
  readonly clientMetadataUrl?: string;
  readonly scope?: string;
  readonly callbackPort?: number;
  /** A redirect address on this machine. */
  readonly callbackUrl?: string;
}

type StringMap = Readonly<Record<string, string>>;

export interface McpFiles {
  readonly servers: ReadonlyMap<string, McpEntry>;
  /** Holds one sentence per entry that is invalid and ignored. */
  readonly problems: readonly string[];
  /** Holds one sentence per entry or file with fields that tau does not use. */
  readonly unused: readonly string[];
}

/** An entry as a file holds it. */
interface RawMcpEntry extends Omit<McpEntry, 'disabled' | 'folder' | 'isSse'> {
  readonly type?: string;
  readonly timeout?: number;
  readonly disabled?: boolean;
  readonly enabled?: boolean;
}

const nonEmpty: Schema = { type: 'string', minLength: 1 };
const duration: Schema = { type: 'number', minimum: 1 };

const oauthFields: Readonly<Record<keyof McpOAuthSettings, Schema>> = {
  clientId: nonEmpty,
  clientSecret: nonEmpty,
  clientName: nonEmpty,
  clientMetadataUrl: nonEmpty,
  scope: { type: 'string' },
  callbackPort: { type: 'integer', minimum: 1, maximum: 65_535 },
  callbackUrl: nonEmpty,
};

const fields: Readonly<Record<keyof RawMcpEntry, Schema>> = {
  type: nonEmpty,
  command: nonEmpty,
  args: { type: 'array', items: { type: 'string' } },
  env: { type: 'object' },
  cwd: nonEmpty,
  url: nonEmpty,
  headers: { type: 'object' },
  oauth: { anyOf: [{ const: false }, { type: 'object', properties: oauthFields }] },
  timeoutMs: duration,
  timeout: duration,
  disabled: { type: 'boolean' },
  enabled: { type: 'boolean' },
  exposure: { enum: ['codemode', 'codemode-deferred', 'deferred', 'direct', 'hidden'] },
  toolExposure: { type: 'object' },
};

// The fields by which a project changes a server that another file defines.
const overrideFields = ['disabled', 'enabled', 'exposure', 'toolExposure'];

const stdioTypes = ['stdio'];
const sseTypes = ['sse'];
const httpTypes = ['http', 'streamable-http', 'streamableHttp', ...sseTypes];

// pi counts `timeout` in seconds, other programs in milliseconds: a value below a second in milliseconds is one in seconds.
const MIN_TIMEOUT_MS = 1000;

/**
 * Reads the user's MCP servers and, in a trusted project, the project's, which override them by name.
 *
 * Never throws and never writes: an invalid server is ignored alone, and so is a malformed file.
 */
export function readMcpFiles(options: { agentDir: string; cwd: string; trusted: boolean }): McpFiles {
  const found = new FoundServers();
  const userFile = join(options.agentDir, 'mcp.json');
  found.read(userFile, { isProject: false });
  for (const folder of [join(options.cwd, '.pi', 'agent'), join(options.cwd, '.pi')]) {
    const path = join(folder, 'mcp.json');
    if (path === userFile) continue;
    if (options.trusted) found.read(path, { isProject: true });
    else if (existsSync(path)) found.problems.push(`${path} is left out: the project is not trusted`);
  }
  return found;
}

class FoundServers implements McpFiles {
  readonly servers = new Map<string, McpEntry>();
  readonly problems: string[] = [];
  readonly unused: string[] = [];
  /** The servers as the files hold them. */
  readonly #raw = new Map<string, JsonObject>();

  read(path: string, { isProject }: { isProject: boolean }): void {
    try {
      const { mcpServers = {}, ...others } = readJsonObject(path, parseLenient) ?? {};
      this.#reportUnused(path, Object.keys(others));
      if (!isObject(mcpServers)) throw new Error('mcpServers must be an object');
      for (const [name, value] of Object.entries(mcpServers)) {
        const base = isProject && isObject(value) && isOverride(value) ? this.#raw.get(name) : undefined;
        if (base) this.#override(path, name, { base, change: value as JsonObject });
        else this.#add(path, name, { value, folder: dirname(path) });
      }
    } catch (error) {
      this.problems.push(`${path}: ${messageOf(error)}`);
    }
  }

  /** A change of the project keeps the folder of the server, in which its values are resolved. */
  #override(path: string, name: string, { base, change }: { base: JsonObject; change: JsonObject }): void {
    const { disabled, enabled, ...rest } = base;
    const kept = 'disabled' in change || 'enabled' in change ? rest : base;
    const used = Object.entries(change).filter(([field]) => overrideFields.includes(field));
    const unused = Object.keys(change).filter((field) => !overrideFields.includes(field));
    this.#reportUnused(path, locate(name, unused));
    const folder = this.servers.get(name)?.folder ?? dirname(path);
    this.#add(path, name, { value: { ...kept, ...Object.fromEntries(used) }, folder });
  }

  #add(path: string, name: string, { value, folder }: { value: unknown; folder: string }): void {
    const entry = parseMcpEntry(`mcpServers.${name}`, value);
    if (typeof entry === 'string') {
      this.problems.push(`${path}: ${entry}`);
      return;
    }
    this.servers.set(name, { ...entry, folder });
    this.#raw.set(name, value as JsonObject);
    if (folder === dirname(path)) this.#reportUnused(path, locate(name, unknownFields(value as JsonObject)));
  }

  #reportUnused(path: string, names: readonly string[]): void {
    if (names.length > 0) this.unused.push(`${path}: tau does not use ${names.join(', ')}`);
  }
}

const isOverride = (value: object) => !['command', 'url', 'type'].some((field) => field in value);

const locate = (server: string, names: readonly string[]) => names.map((name) => `mcpServers.${server}.${name}`);

const unknownFields = (value: JsonObject): string[] => [
  ...Object.keys(value).filter((field) => !Object.hasOwn(fields, field)),
  ...Object.keys(isObject(value['oauth']) ? value['oauth'] : {})
    .filter((field) => !Object.hasOwn(oauthFields, field))
    .map((field) => `oauth.${field}`),
];

/** Whether the configuration keeps the model from a tool, named as the server names it. */
export function isToolHidden({ exposure, toolExposure = {} }: McpEntry, tool: string): boolean {
  const patterns = Object.entries(toolExposure);
  const [, own] =
    patterns.find(([name]) => name === tool) ??
    patterns.find(([pattern]) => pattern.includes('*') && wildcardTest(pattern)(tool)) ??
    [];
  return (own ?? exposure) === 'hidden';
}

/** Parses one server; returns an error that names this location if it is invalid. */
export function parseMcpEntry(location: string, value: unknown): McpEntry | string {
  const schemaProblem = check(
    { type: 'object', properties: { server: { type: 'object', properties: fields } } },
    { server: value },
  );
  if (schemaProblem !== undefined) return schemaProblem.replace('server', location);
  const { type, timeout, disabled, enabled = true, ...rest } = value as RawMcpEntry;
  const timeoutMs = rest.timeoutMs ?? (timeout !== undefined && timeout < MIN_TIMEOUT_MS ? timeout * 1000 : timeout);
  const isDisabled = disabled ?? !enabled;
  const problem = isDisabled ? undefined : problemOf(rest, type);
  if (problem !== undefined) return `${location}${problem}`;
  const { command, args, env, cwd, url, headers, oauth, exposure, toolExposure } = rest;
  const isSse = type !== undefined && sseTypes.includes(type) ? true : undefined;
  const target = { command, args, env, cwd, url, isSse, headers, oauth };
  return withoutUndefined({
    ...target,
    timeoutMs,
    exposure,
    toolExposure,
    disabled: isDisabled,
  }) as unknown as McpEntry;
}

function problemOf(entry: Partial<RawMcpEntry>, type: string | undefined): string | undefined {
  const { command, url, env = {}, headers = {}, oauth, toolExposure = {} } = entry;
  if (command === undefined && url === undefined) return ' needs a command or a url';
  if (command !== undefined && url !== undefined) return ' has both a command and a url: one of them is meant';
  const types = command === undefined ? httpTypes : stdioTypes;
  if (type !== undefined && !types.includes(type)) return `.type must be ${types.join(' or ')}`;
  if (url !== undefined && !isHttpUrl(url)) return '.url must be an http or https URL, without a password';
  if (oauth && oauth.callbackUrl !== undefined && !isLoopbackUrl(oauth.callbackUrl))
    return '.oauth.callbackUrl must be an http URL on this machine';
  for (const [name, value] of Object.entries(toolExposure)) {
    const problem = check({ type: 'object', properties: { exposure: fields.exposure } }, { exposure: value });
    if (problem !== undefined) return problem.replace('exposure', `.toolExposure.${name}`);
  }
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

const isLoopbackUrl = (url: string) => /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/|$)/.test(url);

const withoutUndefined = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
