import { type CliArguments, type Flag, type FlagName, flags, UnknownWordError, UsageError } from './flags.ts';

/** Parses the command line. A value follows its flag or an equals sign; `--` ends flags and files. */
export function parseFlags(argv: readonly string[]): CliArguments {
  const values: Partial<Record<FlagName, string | string[]>> = {};
  const positionals: string[] = [];
  const files: string[] = [];
  const unknown = new Map<string, string | true>();
  const words = [...argv];
  let onlyPrompts = false;
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    if (word === '--') {
      onlyPrompts = positionals.length === 0 && words.length > 0;
      positionals.push(...words);
      break;
    }
    if (!word.startsWith('-') || word === '-') {
      if (word.startsWith('@')) files.push(word.slice(1));
      else positionals.push(word);
      continue;
    }
    const unknownFlag = unknownFlagIn(word);
    if (unknownFlag) {
      unknown.set(unknownFlag.name, unknownFlag.inline ?? takeOptionalValue(words) ?? true);
      continue;
    }
    const { name, inline } = flagIn(word);
    const value = takeValue(name, inline, words);
    values[name] = (flags[name] as Flag).repeats ? [...(values[name] ?? []), value] : value;
  }
  return { ...(values as Partial<CliArguments>), positionals, files, unknown, onlyPrompts };
}

/** A long flag unknown to tau. */
function unknownFlagIn(word: string): { name: string; inline: string | undefined } | undefined {
  const [given, inline] = splitAtEquals(word);
  return given.startsWith('--') && !flagNamed(given) ? { name: given.slice(2), inline } : undefined;
}

/** The value of an unknown flag, if the next word can be one. */
function takeOptionalValue(words: string[]): string | undefined {
  return words[0] === undefined || /^[-@]/.test(words[0]) ? undefined : words.shift();
}

function flagIn(word: string): { name: FlagName; inline: string | undefined } {
  const [given = '', inline] = splitAtEquals(word);
  const name = flagNamed(given);
  if (!name) throw new UnknownWordError(`Unknown option: ${given}`, { word: given, known: longNames() });
  return { name, inline };
}

function splitAtEquals(word: string): [string, string?] {
  const equals = word.indexOf('=');
  return equals === -1 || !word.startsWith('--') ? [word] : [word.slice(0, equals), word.slice(equals + 1)];
}

function flagNamed(word: string): FlagName | undefined {
  const names = Object.keys(flags) as FlagName[];
  if (word.startsWith('--')) return names.find((name) => `--${name}` === word);
  return names.find((name) => `-${(flags[name] as Flag).short}` === word);
}

const longNames = () => Object.keys(flags).map((name) => `--${name}`);

function takeValue(name: FlagName, inline: string | undefined, rest: string[]): string {
  const flag: Flag = flags[name];
  if (flag.value === undefined) {
    if (inline !== undefined) throw new UsageError(`--${name} takes no value`);
    return 'true';
  }
  const isMissing = rest[0] !== undefined && flagNamed(rest[0]) !== undefined;
  const value = inline ?? (isMissing ? undefined : rest.shift());
  if (value === undefined || value === '') throw new UsageError(`--${name} requires a value${choicesOf(flag)}`);
  if (flag.choices && !flag.choices.includes(value)) {
    throw new UsageError(`--${name} must be one of ${flag.choices.join(', ')}, not ${JSON.stringify(value)}`);
  }
  return value;
}

const choicesOf = ({ choices }: Flag) => (choices ? `: ${choices.join(', ')}` : '');
