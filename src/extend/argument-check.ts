import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { schemaProblem } from '../protocol/schema-problem.ts';
import { warn } from '../system/terminal-text.ts';
import { createTimedRun, isSearchTimeout } from './stream-rules/pattern-search.ts';

type Arguments = Readonly<Record<string, unknown>>;

// A problem as TypeBox reports it; the path is a JSON pointer.
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
}

/**
 * Returns a check of the arguments of a foreign tool against its whole schema; it resolves with the first problem and
 * its path. Arguments that cannot be checked in time do not pass. A schema that cannot be applied is reported once; then
 * all arguments pass.
 */
export function argumentCheck(toolName: string, schema: Schema): (args: Arguments) => Promise<string | undefined> {
  let isUsable = true;
  let timedRun: ReturnType<typeof createTimedRun> | undefined;
  return async (args) => {
    if (!isUsable) return undefined;
    try {
      const malformed = timedRun === undefined ? schemaProblem(schema) : undefined;
      if (malformed !== undefined) throw new Error(malformed);
      const { Errors } = await import('typebox/schema');
      timedRun ??= createTimedRun();
      let problem: string | undefined;
      // The expressions and references of a foreign schema may take for ever.
      timedRun(() => {
        const [isValid, errors] = Errors(schema as object, args) as [boolean, SchemaError[]];
        // Built-in tools report their problems in the words of `check`.
        if (!isValid) problem = check(schema, args) ?? problemText(errors[0] ?? UNKNOWN_ERROR);
        return isValid;
      });
      return problem;
    } catch (error) {
      if (isSearchTimeout(error))
        return 'arguments cannot be checked in time: an expression of the schema takes too long';
      isUsable = false;
      const reason = JSON.stringify(messageOf(error).slice(0, MAX_REASON_LENGTH));
      warn(`The arguments of the tool ${toolName} are not checked: ${reason}`);
      return undefined;
    }
  };
}

const MAX_REASON_LENGTH = 200;

const UNKNOWN_ERROR: SchemaError = { keyword: '', instancePath: '', message: 'must match the schema' };

const problemText = ({ keyword, instancePath, message }: SchemaError): string =>
  `${pathOf(instancePath)} ${keyword === 'boolean' ? 'is not a known field' : message}`;

/** Converts a JSON pointer to the form of `check`: `/a/0/b` becomes `a[0].b`. */
function pathOf(pointer: string): string {
  const steps = pointer.split('/').slice(1);
  const names = steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const path = names.map((name) => (/^\d+$/.test(name) ? `[${name}]` : `.${name}`)).join('');
  return path.replace(/^\./, '') || 'arguments';
}
