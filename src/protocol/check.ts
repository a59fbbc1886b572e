/** The part of JSON Schema that the protocol tables and tool parameters use. Other keywords are not looked at. */
export interface Schema {
  /** `#`, or a definition by its name: `#/$defs/name`. */
  readonly $ref?: string;
  readonly $defs?: Definitions;
  /** What `$defs` was called before. */
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
  /** What `$ref` names, where the schema does not say it itself. */
  readonly definitions?: Definitions;
  /** Refuse fields that the schema does not name where it says so. Off for what clients send: they may be newer. */
  readonly closed?: boolean;
}

/** Says what is wrong with a value, naming the place, or nothing when it fits. */
export function check(schema: Schema, value: unknown, options: CheckOptions = {}): string | undefined {
  const definitions = options.definitions ?? schema.$defs ?? schema.definitions ?? {};
  const found = problem(schema, value, { ...options, definitions, root: schema });
  return found && `${named(found.place)} ${found.demand}`;
}

interface Reading extends CheckOptions {
  readonly definitions: Definitions;
  /** What `#` refers to. */
  readonly root: Schema;
}

/** What does not fit: where it is, from the outside in, and what is demanded of it. */
interface Problem {
  readonly place: readonly (string | number)[];
  readonly demand: string;
}

function problem(schema: Schema, value: unknown, options: Reading): Problem | undefined {
  if (schema.$ref !== undefined) return problem(resolved(schema, options), value, options);
  if (schema.anyOf) return unionProblem(schema.anyOf, value, options);
  if (schema.const !== undefined && value !== schema.const) return here(`must be ${JSON.stringify(schema.const)}`);
  if (schema.type !== undefined && !hasType(schema.type, value)) return here(`must be ${kind(schema.type)}`);
  if (schema.enum && !schema.enum.includes(value)) {
    return here(`must be one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`);
  }
  if (typeof value === 'string') return stringProblem(schema, value);
  if (typeof value === 'number') return numberProblem(schema, value);
  if (Array.isArray(value)) return itemsProblem(schema, value, options);
  if (isObject(value)) return fieldsProblem(schema, value, options);
  return undefined;
}

function stringProblem({ minLength }: Schema, value: string): Problem | undefined {
  return minLength !== undefined && value.length < minLength ? here('must not be empty') : undefined;
}

function numberProblem({ minimum, maximum }: Schema, value: number): Problem | undefined {
  if (minimum !== undefined && value < minimum) return here(`must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) return here(`must be at most ${maximum}`);
  return undefined;
}

function itemsProblem({ items }: Schema, value: unknown[], options: Reading): Problem | undefined {
  if (!items) return undefined;
  for (const [index, item] of value.entries()) {
    const found = problem(items, item, options);
    if (found) return inside(index, found);
  }
  return undefined;
}

function fieldsProblem(schema: Schema, value: Record<string, unknown>, options: Reading): Problem | undefined {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!has(value, name)) return inside(name, here('is required'));
  }
  for (const [name, field] of Object.entries(properties)) {
    const found = has(value, name) ? problem(field, value[name], options) : undefined;
    if (found) return inside(name, found);
  }
  if (!options.closed || schema.additionalProperties !== false) return undefined;
  const stranger = Object.keys(value).find((name) => !Object.hasOwn(properties, name) && value[name] !== undefined);
  return stranger === undefined ? undefined : inside(stranger, here('is not a known field'));
}

function unionProblem(members: readonly Schema[], value: unknown, options: Reading): Problem | undefined {
  const meant = members.map((member) => resolved(member, options)).filter((member) => claims(member, value, options));
  const problems = meant.map((member) => problem(member, value, options));
  return problems.includes(undefined) ? undefined : (problems[0] ?? here('has an unknown shape'));
}

/** Whether a union member is meant: its constant fields, such as `type` or `role`, are those of the value. */
function claims(member: Schema, value: unknown, options: Reading): boolean {
  if (member.anyOf) return member.anyOf.some((inner) => claims(resolved(inner, options), value, options));
  if (member.type !== undefined && !hasType(member.type, value)) return false;
  if (!isObject(value)) return true;
  return Object.entries(member.properties ?? {}).every(([name, field]) => {
    if (field.const === undefined) return true;
    const required = member.required?.includes(name) ?? false;
    return value[name] === field.const || (!required && value[name] === undefined);
  });
}

/** What the schema refers to, or the schema itself. */
function resolved(schema: Schema, { definitions, root }: Reading): Schema {
  if (schema.$ref === undefined) return schema;
  if (schema.$ref === '#') return root;
  const name = schema.$ref.replace(/^#\/(?:\$defs|definitions)\//, '');
  const target = Object.hasOwn(definitions, name) ? definitions[name] : undefined;
  if (!target) throw new Error(`No definition named ${name}`);
  return target;
}

const here = (demand: string): Problem => ({ place: [], demand });

const inside = (step: string | number, { place, demand }: Problem): Problem => ({ place: [step, ...place], demand });

const named = (place: Problem['place']) => place.reduce<string>(below, '') || 'the value';

function below(path: string, step: string | number): string {
  if (typeof step === 'number') return `${path}[${step}]`;
  return path === '' ? step : `${path}.${step}`;
}

function hasType(type: string | readonly string[], value: unknown): boolean {
  if (typeof type !== 'string') return type.some((one) => hasType(one, value));
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

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field that is undefined is none. */
const has = (value: Record<string, unknown>, name: string) => Object.hasOwn(value, name) && value[name] !== undefined;

const kinds: Readonly<Record<string, string>> = {
  array: 'an array',
  object: 'an object',
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  null: 'null',
};

const kind = (type: string | readonly string[]) =>
  [type]
    .flat()
    .map((one) => kinds[one] ?? one)
    .join(' or ');
