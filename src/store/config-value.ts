/** Environment and limits for resolving a configured value. */
export interface ValueSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Working directory of commands. */
  readonly cwd: string;
  readonly timeoutMs?: number;
  /** Aborts a running command. */
  readonly signal?: AbortSignal | undefined;
}

const COMMAND_TIMEOUT_MS = 10_000;

// `$$` and `$!` escape the character; a dollar sign before anything else stands for itself.
const references = /\$(?:([$!])|\{(\w+)\}|([A-Za-z_]\w*))/g;

// Older versions of pi write a variable without `$`.
const bareName = /^[A-Z][A-Z0-9_]*$/;

/**
 * Resolves an `apiKey` or header value: `!command` becomes the output of the command, `$NAME` and `${NAME}` become
 * environment variables, a word in capitals becomes the variable of that name if it is set, all else stays.
 *
 * Rejects with the name of the missing variable or failed command. A command runs once per process.
 */
export async function resolveValue(value: string, source: ValueSource): Promise<string> {
  const { env, cwd, timeoutMs = COMMAND_TIMEOUT_MS, signal } = source;
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

/** The environment variables that a value refers to, without those that a command may read. */
export function variablesIn(value: string): string[] {
  if (value.startsWith('!')) return [];
  return bareName.test(value) ? [value] : referencedNames(value);
}

/** Why a value cannot be resolved, as far as that is known without running a command. */
export function valueProblem(value: string, env: ValueSource['env']): string | undefined {
  const missing = value.startsWith('!') ? undefined : referencedNames(value).find((name) => !readVariable(env, name));
  return missing === undefined ? undefined : notSet(missing);
}

/** Escapes a text so that it resolves to itself. */
export const escapeValue = (text: string): string => text.replaceAll('$', '$$$$').replace(/^!/, '$!');

const notSet = (name: string) => `The environment variable ${name} is not set`;

const referencedNames = (value: string) =>
  [...value.matchAll(references)].flatMap(([, , braced, plain]) => braced ?? plain ?? []);

/** An environment variable; undefined when empty. */
export function readVariable(env: ValueSource['env'], name: string): string | undefined {
  return (Object.hasOwn(env, name) && env[name]) || undefined;
}
