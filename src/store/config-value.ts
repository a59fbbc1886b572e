/** Where the values of a configuration are looked up. */
export interface ValueSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where commands run. */
  readonly cwd: string;
  /** How long a command may take. */
  readonly limitMs?: number;
}

const COMMAND_LIMIT_MS = 10_000;

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
  const { env, cwd, limitMs = COMMAND_LIMIT_MS } = source;
  if (value.startsWith('!')) {
    const { captureOnce } = await import('../system/capture.ts');
    return captureOnce({ command: value.slice(1), cwd, env, limitMs });
  }
  if (bareName.test(value)) return variable(env, value) ?? value;
  return value.replace(references, (_all, escaped?: string, braced?: string, plain?: string) => {
    if (escaped !== undefined) return escaped;
    const name = braced ?? plain ?? '';
    const found = variable(env, name);
    if (found === undefined) throw new Error(`The environment variable ${name} is not set`);
    return found;
  });
}

/** The environment variables that a value refers to. What a command looks at is its own business. */
export function namesIn(value: string): string[] {
  if (value.startsWith('!')) return [];
  return bareName.test(value) ? [value] : referredTo(value);
}

/** Whether nothing that the value refers to is missing. Runs no command. */
export const isResolvable = (value: string, env: ValueSource['env']): boolean =>
  value.startsWith('!') || referredTo(value).every((name) => variable(env, name) !== undefined);

const referredTo = (value: string) =>
  [...value.matchAll(references)].flatMap(([, , braced, plain]) => braced ?? plain ?? []);

/** An environment variable; an empty one is none. */
export function variable(env: ValueSource['env'], name: string): string | undefined {
  return (Object.hasOwn(env, name) && env[name]) || undefined;
}
