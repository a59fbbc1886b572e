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
  print: { short: 'p', about: 'Print the answer to the prompts and exit', topic: 'modes', common: true },
  mode: { value: 'mode', choices: ['text', 'json', 'rpc'], about: 'How to run', topic: 'modes', common: true },
  verbose: { about: 'With --print: list tool calls on stderr', topic: 'modes' },
  socket: {
    value: 'path',
    about: 'Unix socket. --mode rpc serves it instead of stdio, tau serve also serves it, tau attach connects to it',
    topic: 'rpc',
  },
  stream: {
    value: 'form',
    choices: ['cumulative', 'delta'],
    default: 'cumulative',
    about: 'Form of streamed answers',
    topic: 'rpc',
  },
  'on-eof': {
    value: 'what',
    choices: ['finish', 'abort'],
    default: 'finish',
    about: 'Effect of the end of stdin',
    topic: 'rpc',
  },
  'inherit-workflow-settings': { about: 'Use the todo settings of settings.json, as in the other modes', topic: 'rpc' },
  provider: { value: 'name', about: 'Provider of the model', topic: 'models' },
  'list-models': { about: 'List the usable models; words after it filter the list', topic: 'models' },
  models: { value: 'list', about: 'Cycle only these models: patterns separated by commas', topic: 'models' },
  'api-key': { value: 'key', about: 'Key for the provider of the model, for this process only', topic: 'models' },
  model: { value: 'model', about: 'Model as id or provider/id, also with :thinking', topic: 'models', common: true },
  thinking: { value: 'level', choices: choices.ThinkingLevelInput, about: 'Thinking level', topic: 'models' },
  'min-expiry': {
    value: 'duration',
    about: 'With tau auth: renew a sign-in that expires sooner, such as 10m',
    topic: 'models',
  },
  script: { value: 'file', about: 'Script of the built-in model', topic: 'models' },
  offline: { about: 'Search the network for nothing', topic: 'models' },
  continue: { short: 'c', about: 'Continue the latest session of this folder', topic: 'sessions', common: true },
  resume: { short: 'r', about: 'Choose a session of this folder to continue', topic: 'sessions' },
  session: {
    value: 'path|id',
    about: 'Open this session: a file, or the start of an id',
    topic: 'sessions',
    common: true,
  },
  'session-id': { value: 'id', about: 'Open the session with this id, or create it', topic: 'sessions' },
  fork: { value: 'path|id', about: 'Copy this session into this folder and continue the copy', topic: 'sessions' },
  'no-session': { about: 'Store nothing on disk', topic: 'sessions', common: true },
  'read-only': { about: 'With --mode rpc: change nothing in the session, and load no extensions', topic: 'sessions' },
  'kept-by-host': {
    about: 'With --mode rpc: run nothing before the client confirmed the entries with entries_kept',
    topic: 'sessions',
  },
  'session-dir': { value: 'dir', about: 'Store sessions in this folder', topic: 'sessions' },
  name: { short: 'n', value: 'name', about: 'Name the session, or the token', topic: 'sessions' },
  export: { value: 'session', about: 'Same as tau export', topic: 'sessions' },
  tools: {
    short: 't',
    value: 'list',
    about: 'Offer only these tools: names and globs separated by commas',
    topic: 'tools',
  },
  'exclude-tools': { short: 'xt', value: 'list', about: 'Offer all tools except these', topic: 'tools' },
  'no-tools': { short: 'nt', about: 'Offer no tools', topic: 'tools' },
  'no-builtin-tools': { short: 'nbt', about: 'Offer no built-in tools', topic: 'tools' },
  approvals: {
    value: 'mode',
    choices: choices.ApprovalMode,
    about: 'Which tool calls run without a question; no session gets a looser mode (default: full)',
    topic: 'tools',
  },
  sandbox: {
    value: 'use',
    choices: choices.SandboxUse,
    about: 'Run commands of the model in a sandbox (default: auto, but off in the mode full)',
    topic: 'tools',
  },
  'no-mcp': { about: 'Ignore mcp.json', topic: 'tools' },
  'system-prompt': { value: 'text|file', about: 'Replaces the default system prompt', topic: 'tools' },
  'append-system-prompt': {
    value: 'text|file',
    about: 'Text to append to the system prompt; may be repeated',
    topic: 'tools',
    repeats: true,
  },
  'no-context-files': { short: 'nc', about: 'Leave AGENTS.md and CLAUDE.md out of the system prompt', topic: 'tools' },
  'print-system-prompt': { about: 'Print the system prompt that a run would send', topic: 'tools' },
  extension: {
    short: 'e',
    value: 'path',
    about: 'Also load this extension: a file or a folder; may be repeated',
    topic: 'extensions',
    repeats: true,
  },
  'no-extensions': { short: 'ne', about: 'Load no extensions except those of --extension', topic: 'extensions' },
  skill: {
    value: 'path',
    about: 'Also use this skill, or those in this folder; may be repeated',
    topic: 'extensions',
    repeats: true,
  },
  'no-skills': { short: 'ns', about: 'Use no skills except those of --skill', topic: 'extensions' },
  'prompt-template': {
    value: 'path',
    about: 'Also use this prompt template, or those in this folder; may be repeated',
    topic: 'extensions',
    repeats: true,
  },
  'no-prompt-templates': {
    short: 'np',
    about: 'Use no templates except those of --prompt-template',
    topic: 'extensions',
  },
  host: { value: 'address', default: '127.0.0.1', about: 'With tau serve: address to listen on', topic: 'server' },
  port: {
    value: 'number',
    default: '4170',
    about: 'With tau serve: port to listen on; 0 is any free one',
    topic: 'server',
  },
  cwd: {
    value: 'dir',
    about: 'Folder of new sessions (tau serve), or of the new session (tau attach)',
    topic: 'server',
  },
  url: {
    value: 'address',
    about: 'With tau attach: address of the server, as ws://host:port/session; several nodes separated by commas',
    topic: 'server',
  },
  'token-file': { value: 'file', about: 'With tau attach: file that holds the token', topic: 'server' },
  tokens: { value: 'file', about: 'With tau serve: also accept the tokens in this file', topic: 'server' },
  'agent-command': { value: 'command', about: 'With tau serve: command that starts an agent', topic: 'server' },
  'allow-origin': {
    value: 'origin',
    about: 'With tau serve: accept pages of this origin; may be repeated',
    topic: 'server',
    repeats: true,
  },
  'allow-host': {
    value: 'host',
    about: 'With tau serve: also accept this host name; may be repeated',
    topic: 'server',
    repeats: true,
  },
  'base-path': {
    value: 'path',
    about: 'Path prefix of the server, for tau serve and tau attach --socket',
    topic: 'server',
  },
  'tls-cert': { value: 'file', about: 'With tau serve: certificate for TLS', topic: 'server' },
  'tls-key': { value: 'file', about: 'With tau serve: key of that certificate', topic: 'server' },
  'behind-proxy': { about: 'With tau serve: a proxy ends TLS and sets X-Forwarded-For', topic: 'server' },
  'park-after': {
    value: 'seconds',
    default: '120',
    about: 'With tau serve: end an agent after this idle time',
    topic: 'server',
  },
  'ping-seconds': {
    value: 'seconds',
    default: '20',
    about: 'With tau serve: interval of pings to clients',
    topic: 'server',
  },
  'max-sessions': {
    value: 'number',
    default: '100',
    about: 'With tau serve: limit of live sessions; 0 in a cluster: serve none, forward clients',
    topic: 'server',
  },
  cluster: {
    value: 'urls',
    about:
      'With tau serve: be a node of the cluster on these NATS servers, separated by commas; with tau token: its tokens',
    topic: 'server',
  },
  node: {
    value: 'name',
    about:
      'With tau serve --cluster: name of this node (default: the host name); with tau cluster import: node that has the folders',
    topic: 'server',
  },
  shared: {
    value: 'folder',
    repeats: true,
    about: 'With tau serve --cluster: this folder is the same on every node that names it; may be repeated',
    topic: 'server',
  },
  'prepare-workspace': {
    value: 'command',
    about: "With tau serve --cluster: makes a session's folder ($TAU_CWD) here while its node is away",
    topic: 'server',
  },
  'nats-creds': { value: 'file', about: 'With --cluster and tau cluster: credentials file for NATS', topic: 'server' },
  'nats-nkey': { value: 'file', about: 'With --cluster and tau cluster: nkey seed for NATS', topic: 'server' },
  'nats-ca': { value: 'file', about: 'With --cluster and tau cluster: CA certificate of NATS', topic: 'server' },
  'cluster-replicas': {
    value: 'number',
    default: '3',
    about: 'With --cluster and tau cluster: copies of each record; 1 is not safe',
    topic: 'server',
  },
  'lease-seconds': {
    value: 'seconds',
    about: 'With tau cluster init: how long a node that does not respond keeps its sessions (20 in a new cluster)',
    topic: 'server',
  },
  'nats-monitor': {
    value: 'urls',
    repeats: true,
    about: 'With tau cluster check: monitoring ports of the NATS servers, such as http://host:8222; may be repeated',
    topic: 'server',
  },
  'max-bytes': { value: 'size', about: 'With tau cluster init: size limit of the log, such as 200G', topic: 'server' },
  'drain-seconds': {
    value: 'seconds',
    default: '20',
    about: 'With tau serve: time for runs to end after SIGTERM',
    topic: 'server',
  },
  scope: {
    value: 'list',
    about: 'With tau token create: any of view, prompt, bash, admin (default view,prompt)',
    topic: 'server',
    repeats: true,
  },
  path: {
    value: 'dir',
    about: 'With tau token create: only sessions of this folder; may be repeated',
    topic: 'server',
    repeats: true,
  },
  limit: {
    value: 'mode',
    choices: choices.ApprovalMode,
    about: 'With tau token create: loosest approval mode of its runs; it can neither run bash nor trust projects',
    topic: 'server',
  },
  expires: { value: 'when', about: 'With tau token create: 30d, 12h or a date', topic: 'server' },
  approve: { short: 'a', about: 'Trust this project for now' },
  'no-approve': { short: 'na', about: 'Do not trust this project for now' },
  'log-level': {
    value: 'level',
    choices: ['error', 'warn', 'info', 'debug'],
    about: 'Lowest level to log (or TAU_LOG)',
  },
  'log-file': { value: 'path', about: 'Log to this file instead of stderr' },
  all: { about: 'With tau sessions list and tau approvals: of every folder', topic: 'sessions' },
  json: {
    about:
      'With tau doctor, tau sessions list, tau token list, tau mcp list, tau cluster check and tau cluster nodes: print JSON',
  },
  pi: { about: 'With tau doctor: check what tau uses of a set-up of pi' },
  dir: { value: 'dir', about: 'With tau shim: folder of the launcher' },
  force: { about: 'With tau shim: replace a file of another program, and keep it as pi.before-tau' },
  remove: { about: 'With tau shim: remove the launcher' },
  help: { short: 'h', about: 'Print this help', common: true },
  version: { short: 'v', about: 'Print the version', common: true },
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
