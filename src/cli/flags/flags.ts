import { choices } from '../../protocol/generated/choices.ts';

/** A flag of the command line. */
export interface Flag {
  readonly short?: string;
  /** The name of its value; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  readonly default?: string;
  readonly about: string;
  /** The help page that lists it, besides the page of all options. */
  readonly topic?: string;
  /** Listed on the first help page. */
  readonly common?: true;
  /** May be repeated; every value counts. */
  readonly repeats?: true;
  /** Accepted without effect, for scripts written for pi. */
  readonly ignored?: true;
}

/** Every flag, for the parser, the help and shell completion. */
export const flags = {
  print: { short: 'p', about: 'Answer the prompts and leave', topic: 'modes', common: true },
  mode: { value: 'mode', choices: ['text', 'json', 'rpc'], about: 'How to run', topic: 'modes', common: true },
  verbose: { about: 'With --print: tell on stderr which tools run', topic: 'modes' },
  socket: {
    value: 'path',
    about: 'With --mode rpc: serve clients of a Unix socket instead; with tau serve: also; with tau attach: go there',
    topic: 'rpc',
  },
  stream: {
    value: 'form',
    choices: ['cumulative', 'delta'],
    default: 'cumulative',
    about: 'How answers stream',
    topic: 'rpc',
  },
  'on-eof': {
    value: 'what',
    choices: ['finish', 'abort'],
    default: 'finish',
    about: 'When stdin closes',
    topic: 'rpc',
  },
  'inherit-workflow-settings': { about: 'Let settings.json decide about todos, as in the other modes', topic: 'rpc' },
  provider: { value: 'name', about: 'Provider of the model', topic: 'models' },
  'list-models': { about: 'List the models that can be used; words after it are looked for', topic: 'models' },
  models: { value: 'list', about: 'Cycle only these models: patterns with commas between', topic: 'models' },
  'api-key': { value: 'key', about: 'A key for the provider of the model, for this process only', topic: 'models' },
  model: { value: 'model', about: 'Model as id or provider/id, also with :thinking', topic: 'models', common: true },
  thinking: { value: 'level', choices: choices.ThinkingLevelInput, about: 'Thinking', topic: 'models' },
  script: { value: 'file', about: 'Let the built-in model play this script', topic: 'models' },
  offline: { about: 'Look for nothing on the network', topic: 'models' },
  continue: { short: 'c', about: 'Go on with the latest session of this folder', topic: 'sessions', common: true },
  resume: { short: 'r', about: 'Ask which session of this folder to go on with', topic: 'sessions' },
  session: {
    value: 'path|id',
    about: 'Open this session: a file, or the beginning of an id',
    topic: 'sessions',
    common: true,
  },
  'session-id': { value: 'id', about: 'Open the session with this id, or make it', topic: 'sessions' },
  fork: { value: 'path|id', about: 'Copy this session into this folder and go on there', topic: 'sessions' },
  'no-session': { about: 'Keep nothing on disk', topic: 'sessions', common: true },
  'session-dir': { value: 'dir', about: 'Keep sessions in this folder', topic: 'sessions' },
  name: { short: 'n', value: 'name', about: 'Name the session, or the token', topic: 'sessions' },
  export: { value: 'session', about: 'The same as tau export', topic: 'sessions' },
  tools: {
    short: 't',
    value: 'list',
    about: 'Offer these tools only: names and globs, commas between',
    topic: 'tools',
  },
  'exclude-tools': { short: 'xt', value: 'list', about: 'Offer all tools but these', topic: 'tools' },
  'no-tools': { short: 'nt', about: 'Offer no tools', topic: 'tools' },
  'no-builtin-tools': { short: 'nbt', about: 'Offer no tools of tau itself', topic: 'tools' },
  'no-mcp': { about: 'Leave mcp.json alone', topic: 'tools' },
  'system-prompt': { value: 'text|file', about: 'Say this instead of the usual system prompt', topic: 'tools' },
  'append-system-prompt': {
    value: 'text|file',
    about: 'Say this too, after it; may be repeated',
    topic: 'tools',
    repeats: true,
  },
  'no-context-files': { short: 'nc', about: 'Leave AGENTS.md and CLAUDE.md out of it', topic: 'tools' },
  'print-system-prompt': { about: 'Show the system prompt that a run would send', topic: 'tools' },
  extension: {
    short: 'e',
    value: 'path',
    about: 'Load this extension too: a file or a folder; may be repeated',
    topic: 'additions',
    repeats: true,
  },
  'no-extensions': { short: 'ne', about: 'Load no extensions but those', topic: 'additions' },
  skill: {
    value: 'path',
    about: 'Use this skill, or those in this folder; may be repeated',
    topic: 'additions',
    repeats: true,
  },
  'no-skills': { short: 'ns', about: 'Use no skills but those of --skill', topic: 'additions' },
  'prompt-template': {
    value: 'path',
    about: 'Use this prompt template, or those in this folder; may be repeated',
    topic: 'additions',
    repeats: true,
  },
  'no-prompt-templates': { short: 'np', about: 'Use no templates but those of --prompt-template', topic: 'additions' },
  host: { value: 'address', default: '127.0.0.1', about: 'With tau serve: listen here', topic: 'server' },
  port: { value: 'number', default: '4170', about: 'With tau serve: and on this port; 0 is any', topic: 'server' },
  cwd: {
    value: 'dir',
    about: 'With tau serve: where sessions begin; with tau attach: begin one there',
    topic: 'server',
  },
  url: { value: 'address', about: 'With tau attach: the server, as ws://host:port/session', topic: 'server' },
  'token-file': { value: 'file', about: 'With tau attach: show the token in this file', topic: 'server' },
  tokens: { value: 'file', about: 'With tau serve: take the tokens in this file, too', topic: 'server' },
  'agent-command': { value: 'command', about: 'With tau serve: start agents with this', topic: 'server' },
  'allow-origin': {
    value: 'origin',
    about: 'With tau serve: let pages of this origin in; may be repeated',
    topic: 'server',
    repeats: true,
  },
  'allow-host': {
    value: 'host',
    about: 'With tau serve: answer to this name, too; may be repeated',
    topic: 'server',
    repeats: true,
  },
  'base-path': {
    value: 'path',
    about: 'With tau serve: put everything below this path; with tau attach --socket: it is there',
    topic: 'server',
  },
  'tls-cert': { value: 'file', about: 'With tau serve: speak TLS with this certificate', topic: 'server' },
  'tls-key': { value: 'file', about: 'With tau serve: and this key', topic: 'server' },
  'behind-proxy': { about: 'With tau serve: a proxy speaks TLS and says who asks', topic: 'server' },
  'park-after': {
    value: 'seconds',
    default: '120',
    about: 'With tau serve: end idle agents after this',
    topic: 'server',
  },
  'ping-seconds': {
    value: 'seconds',
    default: '20',
    about: 'With tau serve: ask clients this often whether they are there',
    topic: 'server',
  },
  'max-sessions': { value: 'number', default: '100', about: 'With tau serve: run so many at a time', topic: 'server' },
  'drain-seconds': {
    value: 'seconds',
    default: '20',
    about: 'With tau serve: let runs end for so long on SIGTERM',
    topic: 'server',
  },
  scope: {
    value: 'list',
    about: 'With tau token create: what it may do, of view, prompt, bash, admin (view,prompt unless said)',
    topic: 'server',
    repeats: true,
  },
  path: {
    value: 'dir',
    about: 'With tau token create: open sessions of this folder only; may be repeated',
    topic: 'server',
    repeats: true,
  },
  expires: { value: 'when', about: 'With tau token create: 30d, 12h or a date', topic: 'server' },
  approve: { short: 'a', about: 'Trust this project for now' },
  'no-approve': { short: 'na', about: 'Do not trust this project for now' },
  'log-level': { value: 'level', choices: ['error', 'warn', 'info', 'debug'], about: 'Log this much (or TAU_LOG)' },
  'log-file': { value: 'path', about: 'Log to this file instead of stderr' },
  all: { about: 'With tau sessions list: those of every folder', topic: 'sessions' },
  json: { about: 'With tau doctor, tau sessions list and tau token list: print JSON' },
  help: { short: 'h', about: 'Show this', common: true },
  version: { short: 'v', about: 'Show the version', common: true },
  theme: { value: 'path', about: '', ignored: true },
  'use-theme': { value: 'name', about: '', ignored: true },
  'no-themes': { about: '', ignored: true },
  'tui-mode': { value: 'mode', about: '', ignored: true },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;

/** The parsed command line; a given switch is `'true'`. */
export type CliArguments = { readonly [F in FlagName]?: Value<(typeof flags)[F]> } & {
  readonly positionals: readonly string[];
  /** Arguments with an `@` in front. */
  readonly files: readonly string[];
  /** Flags unknown to tau, which an extension may define. */
  readonly unknown: ReadonlyMap<string, string | true>;
  /** Whether all positionals stand behind `--`, so that none is a command. */
  readonly onlyPrompts: boolean;
};

type Value<F extends Flag> = F extends { repeats: true } ? readonly string[] : string;

/** The command line is invalid. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A flag, command or topic that does not exist. */
export class UnknownWordError extends UsageError {
  readonly word: string;
  readonly known: readonly string[];
  /** Appended when no known word is near. */
  readonly advice: string;

  constructor(message: string, { word, known, advice = '' }: { word: string; known: string[]; advice?: string }) {
    super(message);
    this.word = word;
    this.known = known;
    this.advice = advice;
  }
}

/** An error with pi's exact text, for scripts that match it. */
export class PiError extends Error {
  override readonly name = 'PiFailure';
}
