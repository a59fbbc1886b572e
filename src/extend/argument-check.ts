import { check, type Schema } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { schemaProblem } from '../protocol/schema-problem.ts';
import { badPatternsIn, withoutBadPatterns } from './bad-patterns.ts';
import { createTimedRun, isSearchTimeout } from './stream-rules/pattern-search.ts';

type Arguments = Readonly<Record<string, unknown>>;

// A problem as TypeBox reports it; the path is a JSON pointer.
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
}

// A foreign tool; `warn` publishes a warning, once for each text.
interface CheckedTool {
  readonly name: string;
  readonly schema: Schema;
  readonly warn: (text: string) => void;
}

type FindProblem = (args: Arguments) => string | undefined;

/**
 * Returns a check of the arguments of a foreign tool against its whole schema; it resolves with the first problem and
 * its path. Arguments that cannot be checked in time do not pass. What cannot be applied of a schema is reported.
 */
export function argumentCheck(tool: CheckedTool): (args: Arguments) => Promise<string | undefined> {
  let findProblem: Promise<FindProblem> | undefined;
  return async (args) => {
    findProblem ??= checkOf(tool);
    return (await findProblem)(args);
  };
}

async function checkOf({ name, schema, warn }: CheckedTool): Promise<FindProblem> {
  const malformed = schemaProblem(schema);
  if (malformed !== undefined) {
    warn(`The arguments of the tool ${name} are not checked: ${quoted(malformed)}`);
    return () => undefined;
  }
  const patterns = badPatternsIn(schema);
  if (patterns.length > 0) {
    const list = patterns.map(quoted).join(', ');
    warn(`The arguments of the tool ${name} are checked without expressions that are malformed: ${list}`);
  }
  let whole: FindProblem | undefined = await wholeCheck(
    schema,
    patterns.length > 0 ? withoutBadPatterns(schema) : schema,
  );
  return (args) => {
    try {
      if (whole) return whole(args);
    } catch (error) {
      if (isSearchTimeout(error)) return TOO_SLOW;
      whole = undefined;
      warn(`The arguments of the tool ${name} are checked against a part of its schema: ${quoted(messageOf(error))}`);
    }
    return check(schema, args);
  };
}

/** A check against every keyword of `applicable`; it throws if that cannot be applied. */
async function wholeCheck(schema: Schema, applicable: Schema): Promise<FindProblem> {
  const { Errors } = await import('typebox/schema');
  const timedRun = createTimedRun();
  return (args) => {
    let problem: string | undefined;
    // The expressions and references of a foreign schema may take for ever.
    timedRun(() => {
      const [isValid, errors] = Errors(applicable as object, args) as [boolean, SchemaError[]];
      // Built-in tools report their problems in the words of `check`.
      if (!isValid) problem = check(schema, args) ?? problemText(errors[0] ?? UNKNOWN_ERROR);
      return isValid;
    });
    return problem;
  };
}

const TOO_SLOW = 'arguments cannot be checked in time: an expression of the schema takes too long';

const MAX_REASON_LENGTH = 200;

const quoted = (text: string): string => JSON.stringify(text.slice(0, MAX_REASON_LENGTH));

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
