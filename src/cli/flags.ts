import { choices } from '../protocol/generated/choices.ts';

/** One thing that may be said on the command line. */
export interface Flag {
  readonly short?: string;
  /** What follows it; absent for a switch. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** The choice that is made when nothing is said. */
  readonly default?: string;
  readonly about: string;
  /** Accepted for the sake of scripts written for pi, without effect. */
  readonly ignored?: true;
}

/** Every flag, for the parser and for the help. */
export const flags = {
  mode: { value: 'rpc', choices: ['rpc'], about: 'Speak JSON lines over stdin and stdout' },
  socket: { value: 'path', about: 'With --mode rpc: serve clients of a Unix socket instead' },
  stream: {
    value: 'form',
    choices: ['cumulative', 'delta'],
    default: 'cumulative',
    about: 'How answers stream',
  },
  'on-eof': { value: 'what', choices: ['finish', 'abort'], default: 'finish', about: 'When stdin closes' },
  provider: { value: 'name', about: 'Provider of the model' },
  model: { value: 'model', about: 'Model as id or provider/id, also with :thinking' },
  thinking: { value: 'level', choices: choices.ThinkingLevel, about: 'Thinking' },
  script: { value: 'file', about: 'Let the built-in model play this script' },
  offline: { about: 'Look for nothing on the network' },
  session: { value: 'path|id', about: 'Open this session: a file, or the beginning of an id' },
  'session-id': { value: 'id', about: 'Open the session with this id, or make it' },
  'session-dir': { value: 'dir', about: 'Keep sessions in this folder' },
  demo: { about: 'With tau chat, when nobody asks: show one prompt' },
  continue: { short: 'c', about: 'Go on with the latest session of this folder' },
  'no-session': { about: 'Keep nothing on disk' },
  name: { short: 'n', value: 'name', about: 'Name the session' },
  approve: { short: 'a', about: 'Trust this project for now' },
  'no-approve': { short: 'na', about: 'Do not trust this project for now' },
  json: { about: 'With tau doctor: print JSON' },
  'log-level': {
    value: 'level',
    choices: ['error', 'warn', 'info', 'debug'],
    about: 'Log this much (or TAU_LOG)',
  },
  'log-file': { value: 'path', about: 'Log to this file instead of stderr' },
  help: { short: 'h', about: 'Show this' },
  version: { short: 'v', about: 'Show the version' },
  verbose: { about: '', ignored: true },
  theme: { value: 'path', about: '', ignored: true },
  'use-theme': { value: 'name', about: '', ignored: true },
  'no-themes': { about: '', ignored: true },
  'tui-mode': { value: 'mode', about: '', ignored: true },
  'no-extensions': { short: 'ne', about: '', ignored: true },
  'no-skills': { short: 'ns', about: '', ignored: true },
  'no-prompt-templates': { short: 'np', about: '', ignored: true },
  'no-context-files': { short: 'nc', about: '', ignored: true },
  'no-mcp': { about: '', ignored: true },
} as const satisfies Readonly<Record<string, Flag>>;

export type FlagName = keyof typeof flags;
export type Arguments = { readonly [F in FlagName]?: string } & { readonly positionals: readonly string[] };

/** Bad words on the command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Reads the command line. A value may follow its flag or an equals sign; `--` ends the flags. */
export function parseFlags(argv: readonly string[]): Arguments {
  const values: Partial<Record<FlagName, string>> = {};
  const positionals: string[] = [];
  const words = [...argv];
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') {
      positionals.push(...words);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      positionals.push(word);
      continue;
    }
    const [given = '', inline] = split(word);
    const name = flagNamed(given);
    if (!name) throw new UsageError(`Unknown option: ${given}`);
    values[name] = valueFor(name, inline, words);
  }
  return { ...values, positionals };
}

function split(word: string): [string, string?] {
  const equals = word.indexOf('=');
  return equals === -1 || !word.startsWith('--') ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

function flagNamed(word: string): FlagName | undefined {
  const names = Object.keys(flags) as FlagName[];
  if (word.startsWith('--')) return names.find((name) => `--${name}` === word);
  return names.find((name) => `-${(flags[name] as Flag).short}` === word);
}

function valueFor(name: FlagName, inline: string | undefined, rest: string[]): string {
  const flag: Flag = flags[name];
  if (flag.value === undefined) {
    if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
    return 'true';
  }
  const value = inline ?? rest.shift();
  if (value === undefined || value === '') throw new UsageError(`--${name} requires a value`);
  if (flag.choices && !flag.choices.includes(value)) {
    throw new UsageError(`--${name} must be one of ${flag.choices.join(', ')}, not ${JSON.stringify(value)}`);
  }
  return value;
}
