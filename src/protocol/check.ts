import { isObject } from './json.ts';
/** The part of JSON Schema that `check` supports; it ignores other keywords. */
export interface Schema {
  /** `#`, or a definition by its name: `#/$defs/name`. */
  readonly $ref?: string;
  readonly $defs?: Definitions;
  /** The older name of `$defs`. */
  readonly definitions?: Definitions;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

export type Definitions = Readonly<Record<string, Schema>>;

export interface CheckOptions {
  /** Targets of `$ref`; without them the schema's own definitions are used. */
  readonly definitions?: Definitions;
  /** Reject unknown fields where `additionalProperties` is false. Off for input of clients: they may be newer. */
  readonly closed?: boolean;
}

/** Returns the first problem of a value with its path, or undefined when the value fits the schema. */
export function check(schema: Schema, value: unknown, options: CheckOptions = {}): string | undefined {
  const definitions = options.definitions ?? schema.$defs ?? schema.definitions ?? {};
  const found = findProblem(schema, value, { ...options, definitions, root: schema });
  return found && `${formatPath(found.path)} ${found.rule}`;
}

interface CheckContext extends CheckOptions {
  readonly definitions: Definitions;
  /** The target of `#`. */
  readonly root: Schema;
}

/** The path of a value from the outside in, and the requirement that it fails. */
interface Problem {
  readonly path: readonly (string | number)[];
  readonly rule: string;
}

function findProblem(schema: Schema, value: unknown, options: CheckContext): Problem | undefined {
  if (schema.$ref !== undefined) return findProblem(dereference(schema, options), value, options);
  if (schema.anyOf) return unionProblem(schema.anyOf, value, options);
  if (schema.const !== undefined && value !== schema.const) return issue(`must be ${JSON.stringify(schema.const)}`);
  if (schema.type !== undefined && !hasType(schema.type, value)) return issue(`must be ${typeText(schema.type)}`);
  if (schema.enum && !schema.enum.includes(value)) {
    return issue(`must be one of ${schema.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`);
  }
  if (typeof value === 'string') return stringProblem(schema, value);
  if (typeof value === 'number') return numberProblem(schema, value);
  if (Array.isArray(value)) return itemsProblem(schema, value, options);
  if (isObject(value)) return fieldsProblem(schema, value, options);
  return undefined;
}

function stringProblem({ minLength }: Schema, value: string): Problem | undefined {
  return minLength !== undefined && value.length < minLength ? issue('must not be empty') : undefined;
}

function numberProblem({ minimum, maximum }: Schema, value: number): Problem | undefined {
  if (minimum !== undefined && value < minimum) return issue(`must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) return issue(`must be at most ${maximum}`);
  return undefined;
}

function itemsProblem({ items }: Schema, value: unknown[], options: CheckContext): Problem | undefined {
  if (!items) return undefined;
  for (const [index, item] of value.entries()) {
    const found = findProblem(items, item, options);
    if (found) return nested(index, found);
  }
  return undefined;
}

function fieldsProblem(schema: Schema, value: Record<string, unknown>, options: CheckContext): Problem | undefined {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!has(value, name)) return nested(name, issue('is required'));
  }
  for (const [name, field] of Object.entries(properties)) {
    const found = has(value, name) ? findProblem(field, value[name], options) : undefined;
    if (found) return nested(name, found);
  }
  if (!options.closed || schema.additionalProperties !== false) return undefined;
  const unknownField = Object.keys(value).find((name) => !Object.hasOwn(properties, name) && value[name] !== undefined);
  return unknownField === undefined ? undefined : nested(unknownField, issue('is not a known field'));
}

function unionProblem(members: readonly Schema[], value: unknown, options: CheckContext): Problem | undefined {
  const candidates = members
    .map((member) => dereference(member, options))
    .filter((member) => isCandidate(member, value, options));
  const problems = candidates.map((member) => findProblem(member, value, options));
  return problems.includes(undefined) ? undefined : (problems[0] ?? issue('has an unknown shape'));
}

/** Whether the constant fields of a union member, such as `type` or `role`, match the value. */
function isCandidate(member: Schema, value: unknown, options: CheckContext): boolean {
  if (member.anyOf) return member.anyOf.some((inner) => isCandidate(dereference(inner, options), value, options));
  if (member.type !== undefined && !hasType(member.type, value)) return false;
  if (!isObject(value)) return true;
  return Object.entries(member.properties ?? {}).every(([name, field]) => {
    if (field.const === undefined) return true;
    const required = member.required?.includes(name) ?? false;
    return value[name] === field.const || (!required && value[name] === undefined);
  });
}

/** Follows `$ref`; a schema without it is returned unchanged. */
function dereference(schema: Schema, { definitions, root }: CheckContext): Schema {
  if (schema.$ref === undefined) return schema;
  if (schema.$ref === '#') return root;
  const name = schema.$ref.replace(/^#\/(?:\$defs|definitions)\//, '');
  const target = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!target) throw new Error(`No definition named ${name}`);
  return target;
}

const issue = (rule: string): Problem => ({ path: [], rule });

const nested = (step: string | number, { path, rule }: Problem): Problem => ({ path: [step, ...path], rule });

const formatPath = (path: Problem['path']) => path.reduce<string>(appendStep, '') || 'the value';

function appendStep(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

function hasType(type: string | readonly string[], value: unknown): boolean {
  if (typeof type !== 'string') return type.some((member) => hasType(member, value));
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    default:
      return typeof value === type;
  }
}

/** A field whose value is undefined counts as absent. */
const has = (value: Record<string, unknown>, name: string) => Object.hasOwn(value, name) && value[name] !== undefined;

const typeNames: Readonly<Record<string, string>> = {
  array: 'an array',
  object: 'an object',
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  null: 'null',
};

const typeText = (type: string | readonly string[]) =>
  [type]
    .flat()
    .map((member) => typeNames[member] ?? member)
    .join(' or ');
