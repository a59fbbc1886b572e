import { type Flag, type FlagName, flags } from '../flags.ts';
import { flagsOf, type ServerCommand, serverCommands } from '../server-flags.ts';

/** What may be typed after an option. */
type Following = 'nothing' | 'choice' | 'file' | 'folder' | 'text';

/** An option as a shell completes it. */
export interface Option {
  readonly name: string;
  readonly short: string | undefined;
  readonly about: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly takes: Following;
  /** The commands that refuse it. */
  readonly notWith: readonly ServerCommand[];
}

/** Every option that has an effect. */
export const options: readonly Option[] = Object.entries<Flag>(flags)
  .filter(([, flag]) => !flag.ignored)
  .map(([name, flag]) => ({
    name,
    short: flag.short,
    about: flag.about,
    value: flag.value ?? '',
    choices: flag.choices ?? [],
    takes: following(flag),
    notWith: serverCommands.filter((command) => !flagsOf(command).includes(name as FlagName)),
  }));

/** The commands that take some options only, each with those. */
export const choosy = serverCommands.map((command) => ({
  command,
  options: options.filter(({ notWith }) => !notWith.includes(command)),
}));

function following({ value, choices }: Flag): Following {
  if (value === undefined) return 'nothing';
  if (choices) return 'choice';
  if (value === 'dir') return 'folder';
  return /file|path|session/.test(value) ? 'file' : 'text';
}
