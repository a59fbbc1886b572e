import { type Flag, type FlagName, flags } from '../flags/flags.ts';
import { flagsOf, type ServerSubcommand, serverSubcommands } from '../flags/server-flags.ts';

// The kind of value that follows an option.
type ValueKind = 'nothing' | 'choice' | 'file' | 'folder' | 'text';

/** An option for shell completion. */
export interface CompletedOption {
  readonly name: string;
  readonly short: string | undefined;
  readonly about: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly takes: ValueKind;
  readonly notWith: readonly ServerSubcommand[];
}

/** Every option that has an effect. */
export const options: readonly CompletedOption[] = Object.entries<Flag>(flags)
  .filter(([, flag]) => !flag.ignored)
  .map(([name, flag]) => ({
    name,
    short: flag.short,
    about: flag.about,
    value: flag.value ?? '',
    choices: flag.choices ?? [],
    takes: valueKindOf(flag),
    notWith: serverSubcommands.filter((command) => !flagsOf(command).includes(name as FlagName)),
  }));

/** The commands that accept only some options. */
export const restrictedCommands = serverSubcommands.map((command) => ({
  command,
  options: options.filter(({ notWith }) => !notWith.includes(command)),
}));

function valueKindOf({ value, choices }: Flag): ValueKind {
  if (value === undefined) return 'nothing';
  if (choices) return 'choice';
  if (value === 'dir') return 'folder';
  return /file|path|session/.test(value) ? 'file' : 'text';
}
