/** Where the values of a configuration are looked up. */
export interface ValueSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where commands run. */
  readonly cwd: string;
  /** How long a command may take. */
  readonly timeoutMs?: number;
  /** Tells that nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
}

const COMMAND_TIMEOUT_MS = 10_000;

/** `$$` and `$!` stand for the character itself; any other dollar sign does so too. */
const references = /\$(?:([$!])|\{(\w+)\}|([A-Za-z_]\w*))/g;

/** How an older pi names a variable. */
const bareName = /^[A-Z][A-Z0-9_]*$/;

/**
 * What an `apiKey` or the value of a header stands for: `!command` for what a shell command prints, `$NAME` and
 * `${NAME}` for environment variables, a word in capitals for the variable of that name if it is set, all else for
 * itself.
 *
 * Rejects, naming the variable or the command. A command runs once in a process, however many ask.
 */
export async function resolveValue(value: string, source: ValueSource): Promise<string> {
  const { env, cwd, timeoutMs: timeoutMs = COMMAND_TIMEOUT_MS, signal } = source;
  if (value.startsWith('!')) {
    const { captureOnce } = await import('../system/processes/capture.ts');
    return captureOnce({ command: value.slice(1), cwd, env, limitMs: timeoutMs, signal });
  }
  if (bareName.test(value)) return readVariable(env, value) ?? value;
  return value.replace(references, (_all, escaped?: string, braced?: string, plain?: string) => {
    if (escaped !== undefined) return escaped;
    const name = braced ?? plain ?? '';
    const found = readVariable(env, name);
    if (found === undefined) throw new Error(notSet(name));
    return found;
  });
}

/** The environment variables that a value refers to. What a command looks at is its own business. */
export function variablesIn(value: string): string[] {
  if (value.startsWith('!')) return [];
  return bareName.test(value) ? [value] : referencedNames(value);
}

/** What is known to stand in the way of a value; undefined when nothing is. Runs no command. */
export function valueProblem(value: string, env: ValueSource['env']): string | undefined {
  const missing = value.startsWith('!') ? undefined : referencedNames(value).find((name) => !readVariable(env, name));
  return missing === undefined ? undefined : notSet(missing);
}

/** How a text is written that stands for itself. */
export const escapeValue = (text: string): string => text.replaceAll('$', '$$$$').replace(/^!/, '$!');

const notSet = (name: string) => `The environment variable ${name} is not set`;

const referencedNames = (value: string) =>
  [...value.matchAll(references)].flatMap(([, , braced, plain]) => braced ?? plain ?? []);

/** An environment variable; an empty one is none. */
export function readVariable(env: ValueSource['env'], name: string): string | undefined {
  return (Object.hasOwn(env, name) && env[name]) || undefined;
}
