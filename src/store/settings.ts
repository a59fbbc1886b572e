import { dirname, join, resolve } from 'node:path';
import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { choices } from '../protocol/generated/choices.ts';
import type {
  ApprovalMode,
  InterruptMode,
  QueueMode,
  SandboxUse,
  ThinkingLevel,
} from '../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { expandHome } from './agent-dir.ts';
import { type ReadSettings, strictLimits } from './approvals/strict-limits.ts';
import { readJsonObject } from './json-file.ts';

/** The settings in `settings.json` that tau reads. Keys of other programs are kept beside them. */
export interface Settings {
  readonly defaultProvider?: string;
  readonly defaultModel?: string;
  readonly defaultThinkingLevel?: ThinkingLevel;
  /** The first thinking level of a model, by `provider/model`. */
  readonly modelThinkingLevels?: Readonly<Record<string, unknown>>;
  readonly steeringMode?: QueueMode;
  readonly followUpMode?: QueueMode;
  readonly interruptMode?: InterruptMode;
  readonly enabledModels?: readonly string[];
  /** Names replace the tools that a model is offered at first; `+name` and `-name` change them. */
  readonly defaultTools?: readonly string[];
  /** The proxy for servers on other machines. Only the user's own file may set it. */
  readonly httpProxy?: string;
  /** If false, `/skill:name` is no command; the system prompt lists skills all the same. */
  readonly enableSkillCommands?: boolean;
  readonly shellPath?: string;
  readonly shellCommandPrefix?: string;
  /** Timeouts of shell commands; without them a command may run for ever. */
  readonly bash?: {
    /** For calls of the tool without a timeout. */
    readonly defaultTimeoutSeconds?: number;
    /** For every call of the tool and every `bash` command. */
    readonly maxTimeoutSeconds?: number;
  };
  readonly sessionDir?: string;
  readonly defaultProjectTrust?: 'ask' | 'always' | 'never';
  readonly compaction?: {
    readonly enabled?: boolean;
    readonly reserveTokens?: number;
    readonly keepRecentTokens?: number;
    /** The same limits for single models, by `provider/model`. */
    readonly modelOverrides?: Readonly<Record<string, unknown>>;
  };
  /** `reserveTokens`: tokens for the summary of an abandoned branch. */
  readonly branchSummary?: { readonly reserveTokens?: number };
  /** `blockImages`: no image is sent to a model. */
  readonly images?: { readonly blockImages?: boolean };
  readonly retry?: {
    readonly enabled?: boolean;
    readonly maxRetries?: number;
    readonly baseDelayMs?: number;
    readonly maxDelayMs?: number;
    /** Longest delay that tau chooses; `maxDelayMs` limits both delays. */
    readonly maxAgentDelayMs?: number;
    readonly provider?: {
      /** How long a server may send nothing. */
      readonly timeoutMs?: number;
      /** Longest delay that a server may require. */
      readonly maxRetryDelayMs?: number;
    };
  };
  /** How long a model may send nothing, in milliseconds. */
  readonly stall?: {
    readonly connectMs?: number;
    readonly firstByteMs?: number;
    readonly betweenMs?: number;
  };
  readonly httpIdleTimeoutMs?: number;
  /** Tokens per thinking level, for models with a token budget. */
  readonly thinkingBudgets?: Readonly<Partial<Record<ThinkingLevel, number>>>;
  /** Files and folders of extensions, skills and prompt templates, and packages that hold such. */
  readonly extensions?: readonly string[];
  readonly skills?: readonly string[];
  readonly prompts?: readonly string[];
  readonly packages?: readonly PackageSetting[];
  /** How long a handler of an extension may take, in milliseconds; time spent waiting for the user does not count. */
  readonly extensionTimeoutMs?: number;
  /** `deadlineMs`: the timeout of dialogs that have none of their own, in milliseconds. */
  readonly dialogs?: { readonly deadlineMs?: number };
  /** Which tool calls run without a question. Projects cannot set this here: see `readApprovalSettings`. */
  readonly approvals?: {
    readonly mode?: ApprovalMode;
    /** Rules such as `bash(npm test)`. */
    readonly allow?: readonly string[];
    readonly ask?: readonly string[];
    readonly deny?: readonly string[];
    /** How long a question waits for a client that can show it, in milliseconds. */
    readonly waitMs?: number;
  };
  /** The reach of the model's commands. Projects cannot set this here, either. */
  readonly sandbox?: {
    readonly use?: SandboxUse;
    readonly network?: 'ask' | 'none' | 'open';
    /** Hosts that commands may connect to. */
    readonly domains?: readonly string[];
    /** Folders that commands may change, relative to the folder of the session. */
    readonly writable?: readonly string[];
    /** Files and folders that commands cannot read. */
    readonly hidden?: readonly string[];
    /** Variables that commands get although they look like secrets. */
    readonly env?: readonly string[];
    readonly unixSockets?: boolean;
    readonly gitWrite?: boolean;
  };
  /** How long a message waits for the extensions to start before it is queued, in milliseconds. */
  readonly startWaitMs?: number;
  /** Identifies this installation to issuers that require it. */
  readonly deviceId?: string;
  /** Rules that watch the model's output. */
  readonly ttsr?: {
    readonly enabled?: boolean;
    readonly contextMode?: 'discard' | 'keep';
    readonly interruptMode?: 'always' | 'never' | 'prose-only' | 'tool-only';
    readonly repeatMode?: 'once' | 'after-gap';
    readonly repeatGap?: number;
  };
  readonly 'todo.enabled'?: boolean;
  readonly 'todo.reminders'?: boolean;
  readonly 'todo.reminders.max'?: number;
  /** Seconds until completed tasks are removed; negative: never. */
  readonly 'tasks.todoClearDelay'?: number;
}

/** A package by its source, optionally with paths and patterns to include, or to exclude with a sign in front. */
export type PackageSetting =
  | string
  | {
      readonly source: string;
      readonly extensions?: readonly string[];
      readonly skills?: readonly string[];
      readonly prompts?: readonly string[];
    };

interface SettingsSource {
  readonly agentDir: string;
  readonly cwd: string;
  /** Whether the project's own files are read. */
  readonly trusted: boolean;
}

const text: Schema = { type: 'string' };
const flag: Schema = { type: 'boolean' };
const count: Schema = { type: 'number', minimum: 0 };
// The maximum delay of a timer.
const time: Schema = { type: 'number', minimum: 1, maximum: 2_147_483_647 };
const delay: Schema = { ...time, minimum: 0 };
const seconds: Schema = { type: 'number', minimum: 0, maximum: 2_147_483 };
const texts: Schema = { type: 'array', items: text };
// A bad entry must not take the others with it: `readApprovalSettings` checks each alone.
const anyList: Schema = { type: 'array' };
const oneOf = (...values: string[]): Schema => ({ enum: values });
const anyGroup: Schema = { type: 'object' };
const group = (properties: Record<string, Schema>): Schema => ({ type: 'object', properties });

const packageChoice: Schema = {
  ...group({ source: text, extensions: texts, skills: texts, prompts: texts }),
  required: ['source'],
};

const schemas: Record<keyof Settings, Schema> = {
  defaultProvider: text,
  defaultModel: text,
  defaultThinkingLevel: oneOf(...choices.ThinkingLevel),
  steeringMode: oneOf(...choices.QueueMode),
  followUpMode: oneOf(...choices.QueueMode),
  interruptMode: oneOf(...choices.InterruptMode),
  enabledModels: { type: 'array', items: text },
  defaultTools: texts,
  shellPath: text,
  shellCommandPrefix: text,
  bash: group({ defaultTimeoutSeconds: seconds, maxTimeoutSeconds: seconds }),
  sessionDir: text,
  defaultProjectTrust: oneOf('ask', 'always', 'never'),
  modelThinkingLevels: anyGroup,
  compaction: group({ enabled: flag, reserveTokens: count, keepRecentTokens: count, modelOverrides: anyGroup }),
  branchSummary: group({ reserveTokens: count }),
  images: group({ blockImages: flag }),
  retry: group({
    enabled: flag,
    maxRetries: count,
    baseDelayMs: delay,
    maxDelayMs: time,
    maxAgentDelayMs: time,
    provider: group({ timeoutMs: time, maxRetryDelayMs: time }),
  }),
  stall: group({ connectMs: time, firstByteMs: time, betweenMs: time }),
  httpIdleTimeoutMs: time,
  extensions: texts,
  skills: texts,
  prompts: texts,
  packages: { type: 'array', items: { anyOf: [text, packageChoice] } },
  extensionTimeoutMs: time,
  dialogs: group({ deadlineMs: time }),
  startWaitMs: delay,
  approvals: group({ mode: oneOf(...choices.ApprovalMode), allow: anyList, ask: anyList, deny: anyList, waitMs: time }),
  sandbox: group({
    use: oneOf(...choices.SandboxUse),
    network: oneOf('ask', 'none', 'open'),
    domains: texts,
    writable: texts,
    hidden: anyList,
    env: texts,
    unixSockets: flag,
    gitWrite: flag,
  }),
  httpProxy: text,
  enableSkillCommands: flag,
  deviceId: text,
  ttsr: group({
    enabled: flag,
    contextMode: oneOf('discard', 'keep'),
    interruptMode: oneOf('always', 'never', 'prose-only', 'tool-only'),
    repeatMode: oneOf('once', 'after-gap'),
    repeatGap: count,
  }),
  'todo.enabled': flag,
  'todo.reminders': flag,
  'todo.reminders.max': { type: 'integer', minimum: 0 },
  'tasks.todoClearDelay': { type: 'number', maximum: 2_147_483 },
  thinkingBudgets: group(Object.fromEntries(choices.ThinkingLevel.map((level) => [level, count]))),
};

/** The keys of a settings file that tau reads, and those that it does not; a key inside a group has a dotted name. */
export function sortSettings(values: JsonObject): {
  readonly used: readonly string[];
  readonly unused: readonly string[];
} {
  const names = Object.entries(values).flatMap(([name, value]) =>
    isObject(value) && (fieldsOf(name) || isGroup(name))
      ? Object.keys(value).map((inner) => `${name}.${inner}`)
      : [name],
  );
  const isUsed = (name: string) => {
    const [group = '', inner = ''] = name.split('.');
    return (
      Object.keys(schemas).some((known) => known === name || known.startsWith(`${name}.`)) ||
      Object.hasOwn(fieldsOf(group) ?? {}, inner)
    );
  };
  return { used: names.filter(isUsed), unused: names.filter((name) => !isUsed(name)) };
}

const fieldsOf = (name: string) =>
  Object.hasOwn(schemas, name) ? schemas[name as keyof Settings].properties : undefined;

const paths = ['shellPath', 'sessionDir'];

/** Lists of all files are combined; paths are relative to the folder of their file. */
const pathLists = ['skills', 'prompts'];

/**
 * Reads the user's settings and, in a trusted project, the project's, which override them.
 *
 * Never throws: a malformed file or invalid value is ignored with a warning.
 */
export function readSettings(source: SettingsSource): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const merged: JsonObject = {};
  const [user = '', ...project] = settingsFiles(source);
  merge(merged, readUserSettings(user, warnings));
  for (const file of project) merge(merged, withoutUserSettings(readSettingsFile(file, warnings)));
  return { settings: withHome(merged), warnings };
}

/** The settings of a project without those that only the user may set. */
export const withoutUserSettings = ({
  httpProxy: _proxy,
  approvals: _approvals,
  sandbox: _sandbox,
  ...values
}: JsonObject): JsonObject => values;

function withHome(merged: JsonObject): Settings {
  for (const name of paths) {
    const path = merged[name];
    if (typeof path === 'string') merged[name] = expandHome(path);
  }
  return merged as Settings;
}

/** Settings of the embedding program; their paths are relative to `folder`. */
export interface SettingsLayer {
  readonly values: JsonObject;
  readonly folder: string;
}

/** Merges settings of the embedding program, weakest first. Never throws: an invalid value is ignored with a warning. */
export function checkSettings(layers: readonly SettingsLayer[]): { settings: Settings; warnings: string[] } {
  const warnings: string[] = [];
  const merged: JsonObject = {};
  for (const { values, folder } of layers) {
    merge(merged, withAbsolutePaths(accept({ schemas, values, location: 'settings: ', warnings }), folder));
  }
  return { settings: withHome(merged), warnings };
}

/** Weakest first. In the home folder the project's file may be the user's own, which is read once. */
export function settingsFiles({ agentDir, cwd, trusted }: SettingsSource): Iterable<string> {
  const files = [join(agentDir, 'settings.json')];
  if (trusted) files.push(join(cwd, '.pi', 'agent', 'settings.json'), join(cwd, '.pi', 'settings.json'));
  return new Set(files);
}

/** The same of the user's file; limits that it names and that cannot be used count as strict ones. */
export function readUserSettings(file: string, warnings: string[]): JsonObject {
  const read = readFile(file, warnings);
  const limits = strictLimits(file, read);
  warnings.push(
    ...limits.map(([name, limit]) => `${file}: ${name} counts as ${JSON.stringify(limit)} until it is valid`),
  );
  return { ...read.values, ...Object.fromEntries(limits) };
}

/** The valid settings in a file. A malformed file counts as empty, with a warning. */
export const readSettingsFile = (file: string, warnings: string[]): JsonObject => readFile(file, warnings).values;

function readFile(file: string, warnings: string[]): ReadSettings {
  try {
    const content = readJsonObject(file) ?? {};
    const values = accept({ schemas, values: content, location: `${file}: `, warnings });
    return { values: withAbsolutePaths(values, dirname(file)), content };
  } catch (error) {
    warnings.push(`${file}: ${messageOf(error)}; the file is ignored`);
    return { values: {}, content: error as Error };
  }
}

interface AcceptParams {
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly values: JsonObject;
  readonly location: string;
  readonly warnings: string[];
}

/** The valid values of known keys, and all others; an invalid value is dropped alone, not with its group. */
function accept({ schemas, values, location, warnings }: AcceptParams): JsonObject {
  const accepted: JsonObject = Object.fromEntries(
    Object.entries(values).filter(([name]) => name !== '__proto__' && !Object.hasOwn(schemas, name) && !isGroup(name)),
  );
  for (const [name, schema] of Object.entries(schemas)) {
    const value = lookUp(values, name);
    if (value === undefined || (isObject(value) && isGroup(name))) continue;
    if (schema.properties && isObject(value)) {
      accepted[name] = accept({ schemas: schema.properties, values: value, location: `${location}${name}.`, warnings });
      continue;
    }
    const problem = check({ type: 'object', properties: { [name]: schema } }, { [name]: value });
    if (problem === undefined) accepted[name] = value;
    else warnings.push(`${location}${problem}; it is ignored`);
  }
  return accepted;
}

/** Makes the paths in path lists absolute; signs in front and name patterns stay. */
function withAbsolutePaths(values: JsonObject, folder: string): JsonObject {
  const absolute = (entry: string) => {
    const [, sign = '', path = ''] = /^([!+-]?)(.*)$/s.exec(entry) ?? [];
    return sign === '!' && !path.includes('/') ? entry : sign + resolve(folder, expandHome(path));
  };
  const lists = pathLists.filter((name) => values[name] !== undefined);
  const resolved = lists.map((name) => [name, (values[name] as string[]).filter(Boolean).map(absolute)]);
  return { ...values, ...Object.fromEntries(resolved) };
}

/** Looks up a dotted name, which may also be written as nested groups. */
function lookUp(values: JsonObject, name: string): unknown {
  if (Object.hasOwn(values, name)) return values[name];
  for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
    const inner = lookUp(values, name.slice(0, dot));
    const found = isObject(inner) ? lookUp(inner, name.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether this name is a prefix of other dotted names. */
const isGroup = (name: string) => Object.keys(schemas).some((other) => other.startsWith(`${name}.`));

function merge(target: JsonObject, source: JsonObject): void {
  for (const [name, value] of Object.entries(source)) {
    const before = target[name];
    if (pathLists.includes(name) && before !== undefined) target[name] = [...(before as []), ...(value as [])];
    else target[name] = isObject(before) && isObject(value) ? { ...before, ...value } : value;
  }
}
