import { flagCommands } from './flag-conflicts.ts';
import { type CliArguments, type Flag, type FlagName, flags, UsageError } from './flags.ts';

/** Flags that `tau serve` forwards to its agents. */
export const forwardedFlags = [
  'provider',
  'models',
  'model',
  'thinking',
  'script',
  'offline',
  'tools',
  'exclude-tools',
  'no-tools',
  'no-builtin-tools',
  'no-mcp',
  'approvals',
  'sandbox',
  'system-prompt',
  'append-system-prompt',
  'no-context-files',
  'extension',
  'no-extensions',
  'skill',
  'no-skills',
  'prompt-template',
  'no-prompt-templates',
  'approve',
  'no-approve',
  'inherit-workflow-settings',
] as const satisfies readonly FlagName[];

// Flags that these commands share with others.
const shared = {
  serve: ['socket', 'log-level', 'log-file'],
  attach: ['socket', 'continue'],
  token: ['name'],
  cluster: [],
} as const satisfies Readonly<Record<string, readonly FlagName[]>>;

export type ServerSubcommand = keyof typeof shared;

export const serverSubcommands = Object.keys(shared) as ServerSubcommand[];

export const isServerSubcommand = (word: string): word is ServerSubcommand => Object.hasOwn(shared, word);

/** Flags that the command reads itself. */
export const ownFlags = (command: ServerSubcommand): readonly FlagName[] =>
  flagNames.filter((name) => flagCommands[name]?.includes(command) || shared[command].some((other) => other === name));

/** Every flag that affects the command. */
export const flagsOf = (command: ServerSubcommand): readonly FlagName[] => [
  ...ownFlags(command),
  ...(command === 'serve' ? forwardedFlags : []),
  'help',
  'version',
];

/** Rejects flags without effect, so that none is dropped silently. */
export function checkServerFlags(args: CliArguments): void {
  const [command = ''] = args.positionals;
  if (!isServerSubcommand(command)) return;
  const allowed = flagsOf(command);
  const unsupported = flagNames.find((name) => args[name] !== undefined && !allowed.includes(name) && !isIgnored(name));
  if (unsupported !== undefined) {
    throw new UsageError(`--${unsupported} does not go with tau ${command}${adviceOn(unsupported, command)}`);
  }
}

const flagNames = Object.keys(flags) as FlagName[];

const isIgnored = (name: FlagName) => (flags[name] as Flag).ignored;

const adviceOn = (name: FlagName, command: ServerSubcommand) =>
  name === 'api-key' && command === 'serve'
    ? ': other users can read the key in the process list. Put it into the environment, or into auth.json'
    : '';
