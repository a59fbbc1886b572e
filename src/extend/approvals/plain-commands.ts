// Longer lines are not plain: no reader checks them.
const MAX_PLAIN_CHARACTERS = 4000;

const TOKENS = /(&&|\|\||;|\|) *|((?:[A-Za-z0-9_@%+=:,./-]+|'[^']*'|"[^"$`\\!]*")+) */gy;

// Starts with neither `-` nor `%`, which is a job, and holds no `=`, which makes an assignment.
const COMMAND_NAME = /^[A-Za-z0-9_@+,./][A-Za-z0-9_@%+:,./-]*$/;

// Builtins of bash that change neither the shell nor the meaning of later commands, and run no code.
const HARMLESS_BUILTINS = new Set(['echo', 'false', 'kill', 'printf', 'pwd', 'true']);

// Reserved words, builtins that run code or change the shell (`test -v 'a[$(x)]'` runs x), and those that zsh adds.
const NEVER_PLAIN = new Set(
  `case coproc do done elif else esac fi for function if in select then time until while
  . alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown enable eval exec
  exit export fc fg getopts hash help history jobs let local logout mapfile popd pushd read readarray readonly return set
  shift shopt source suspend test times trap type typeset ulimit umask unalias unset wait
  autoload bindkey chdir emulate end float foreach functions integer nocorrect noglob print private rehash repeat sched
  setopt unhash unsetopt vared whence zmodload`.split(/\s+/),
);

/** The words of one command, without quotes. */
export type Argv = readonly string[];

/**
 * Splits a line for bash into the words of every command; undefined unless the line is plain: words, quotes without
 * expansions, and `&&`, `||`, `;`, `|` between commands that bash runs with exactly these words.
 *
 * With `cwd`, `cd` into this very folder is left out.
 */
export function plainCommands(line: string, cwd?: string): readonly Argv[] | undefined {
  const commands = splitLine(line);
  if (!commands) return undefined;
  const others = cwd === undefined ? commands : commands.filter((words) => !staysIn(cwd, words));
  if (others.length === 0 || !others.every(isPlainCommand)) return undefined;
  return others.map((words) => words.map(({ text }) => text));
}

/** The words of a single command, whether or not its name makes a line plain; undefined if bash would expand them. */
export function commandWords(text: string): Argv | undefined {
  const commands = splitLine(text);
  return commands?.length === 1 ? commands[0]?.map((word) => word.text) : undefined;
}

/** Whether a command of this name can be part of a plain line. */
export const canBePlain = (name: string): boolean => COMMAND_NAME.test(name) && !NEVER_PLAIN.has(name);

/** Whether bash runs this name itself, without a search in PATH. */
export const isHarmlessBuiltin = (name: string): boolean => HARMLESS_BUILTINS.has(name);

/**
 * All words of a line in any syntax, without quotes and escapes: first as bash would separate them, then also separated
 * at every sign that is rare in names. An empty word stands between both readings.
 */
export function literalWords(line: string): Argv {
  const text = line.replaceAll('\\\n', '').replaceAll(/['"\\]/g, '');
  const separated = text.split(/[\s;&|<>(){}`$]+/).filter(Boolean);
  const names = text.split(/[^\w@%+:./-]+/).filter(Boolean);
  return [...separated, '', ...names];
}

interface Word {
  readonly text: string;
  readonly isBare: boolean;
}

/** Undefined if a command is empty, or if bash reads anything but words and operators. */
function splitLine(line: string): readonly (readonly Word[])[] | undefined {
  if (line.length > MAX_PLAIN_CHARACTERS || !/^[ -~]+$/.test(line)) return undefined;
  const text = line.trim();
  const commands: Word[][] = [[]];
  let length = 0;
  for (const [token, operator, word] of text.matchAll(TOKENS)) {
    length += token.length;
    if (operator !== undefined) commands.push([]);
    // zsh replaces `=name` with the path of a program.
    else if (word === undefined || word.startsWith('=')) return undefined;
    else commands.at(-1)?.push(unquoted(word));
  }
  if (length !== text.length) return undefined;
  return commands.every((words) => words.length > 0) ? commands : undefined;
}

function unquoted(word: string): Word {
  const text = word.replaceAll(
    /'([^']*)'|"([^"]*)"/g,
    (_quoted, single?: string, double?: string) => single ?? double ?? '',
  );
  return { text, isBare: text === word };
}

function isPlainCommand([name, first]: readonly Word[]): boolean {
  if (!name?.isBare || !canBePlain(name.text)) return false;
  // `printf -v PATH x` sets a variable.
  return name.text !== 'printf' || !first?.text.startsWith('-');
}

const staysIn = (cwd: string, [name, folder, ...others]: readonly Word[]): boolean =>
  name?.isBare === true && name.text === 'cd' && others.length === 0 && (folder?.text === '.' || folder?.text === cwd);
