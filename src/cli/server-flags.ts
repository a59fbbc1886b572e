import { ofCommands } from './contradictions.ts';
import { type Arguments, type Flag, type FlagName, flags, UsageError } from './flags.ts';

/** What `tau serve` hands on to the agents that it starts. */
export const agentFlags = [
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

/** What goes with these commands besides the flags that are theirs alone. */
const more = {
  serve: ['socket', 'log-level', 'log-file'],
  attach: ['socket', 'continue'],
  token: ['name'],
} as const satisfies Readonly<Record<string, readonly FlagName[]>>;

export type ServerCommand = keyof typeof more;

export const serverCommands = Object.keys(more) as ServerCommand[];

export const isServerCommand = (word: string): word is ServerCommand => Object.hasOwn(more, word);

/** The flags that a command reads itself. */
export const ownFlags = (command: ServerCommand): readonly FlagName[] =>
  names.filter((name) => ofCommands[name]?.includes(command) || more[command].some((other) => other === name));

/** Every flag that has an effect with a command. */
export const flagsOf = (command: ServerCommand): readonly FlagName[] => [
  ...ownFlags(command),
  ...(command === 'serve' ? agentFlags : []),
  'help',
  'version',
];

/** Refuses what would have no effect: it would be left out silently. */
export function checkServerFlags(args: Arguments): void {
  const [command = ''] = args.positionals;
  if (!isServerCommand(command)) return;
  const allowed = flagsOf(command);
  const stranger = names.find((name) => args[name] !== undefined && !allowed.includes(name) && !isIgnored(name));
  if (stranger !== undefined) {
    throw new UsageError(`--${stranger} does not go with tau ${command}${adviceOn(stranger, command)}`);
  }
}

const names = Object.keys(flags) as FlagName[];

const isIgnored = (name: FlagName) => (flags[name] as Flag).ignored;

const adviceOn = (name: FlagName, command: ServerCommand) =>
  name === 'api-key' && command === 'serve'
    ? ': whoever lists processes would read the key. Put it into the environment, or into auth.json'
    : '';
