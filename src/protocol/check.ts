/** The part of JSON Schema that the protocol tables and tool parameters use. Other keywords are not looked at. */
export interface Schema {
  readonly $ref?: string;
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
  /** What `$ref` names. */
  readonly definitions?: Definitions;
  /** Refuse fields that the schema does not name where it says so. Off for what clients send: they may be newer. */
  readonly closed?: boolean;
}

/** Says what is wrong with a value, naming the place, or nothing when it fits. */
export function check(schema: Schema, value: unknown, options: CheckOptions = {}): string | undefined {
  return problem(schema, value, '', options);
}

function problem(schema: Schema, value: unknown, path: string, options: CheckOptions): string | undefined {
  if (schema.$ref !== undefined) return problem(resolve(schema.$ref, options), value, path, options);
  if (schema.anyOf) return unionProblem(schema.anyOf, value, path, options);
  if (schema.const !== undefined && value !== schema.const)
    return `${at(path)} must be ${JSON.stringify(schema.const)}`;
  if (schema.type !== undefined && !hasType(schema.type, value)) return `${at(path)} must be ${kind(schema.type)}`;
  if (schema.enum && !schema.enum.includes(value)) {
    return `${at(path)} must be one of ${schema.enum.map((word) => JSON.stringify(word)).join(', ')}`;
  }
  if (typeof value === 'string') return stringProblem(schema, value, path);
  if (typeof value === 'number') return numberProblem(schema, value, path);
  if (Array.isArray(value)) return itemsProblem(schema, value, path, options);
  if (isObject(value)) return fieldsProblem(schema, value, path, options);
  return undefined;
}

function stringProblem(schema: Schema, value: string, path: string): string | undefined {
  if (schema.minLength !== undefined && value.length < schema.minLength) return `${at(path)} must not be empty`;
  return undefined;
}

function numberProblem(schema: Schema, value: number, path: string): string | undefined {
  if (schema.minimum !== undefined && value < schema.minimum) return `${at(path)} must be at least ${schema.minimum}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `${at(path)} must be at most ${schema.maximum}`;
  return undefined;
}

function itemsProblem(schema: Schema, value: unknown[], path: string, options: CheckOptions): string | undefined {
  if (!schema.items) return undefined;
  for (const [index, item] of value.entries()) {
    const found = problem(schema.items, item, `${path}[${index}]`, options);
    if (found) return found;
  }
  return undefined;
}

function fieldsProblem(
  schema: Schema,
  value: Record<string, unknown>,
  path: string,
  options: CheckOptions,
): string | undefined {
  const properties = schema.properties ?? {};
  for (const name of schema.required ?? []) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) return `${at(join(path, name))} is required`;
  }
  for (const [name, field] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name) || value[name] === undefined) continue;
    const found = problem(field, value[name], join(path, name), options);
    if (found) return found;
  }
  if (!options.closed || schema.additionalProperties !== false) return undefined;
  const stranger = Object.keys(value).find((name) => !Object.hasOwn(properties, name) && value[name] !== undefined);
  return stranger === undefined ? undefined : `${at(join(path, stranger))} is not a known field`;
}

function unionProblem(members: readonly Schema[], value: unknown, path: string, options: CheckOptions) {
  const candidates = members.map((member) => (member.$ref ? resolve(member.$ref, options) : member));
  const chosen = candidates.filter((member) => claims(member, value, options));
  const problems = chosen.map((member) => problem(member, value, path, options));
  if (problems.includes(undefined)) return undefined;
  return problems.length === 1 ? problems[0] : (problems[0] ?? `${at(path)} has an unknown shape`);
}

/** Whether a union member is meant: its constant fields, such as `type` or `role`, are those of the value. */
function claims(member: Schema, value: unknown, options: CheckOptions): boolean {
  if (member.anyOf)
    return member.anyOf.some((inner) => claims(inner.$ref ? resolve(inner.$ref, options) : inner, value, options));
  if (member.type !== undefined && !hasType(member.type, value)) return false;
  if (!isObject(value)) return true;
  return Object.entries(member.properties ?? {}).every(([name, field]) => {
    if (field.const === undefined) return true;
    const required = member.required?.includes(name) ?? false;
    return value[name] === field.const || (!required && value[name] === undefined);
  });
}

function resolve(reference: string, { definitions }: CheckOptions): Schema {
  const name = reference.replace('#/$defs/', '');
  const schema = definitions?.[name];
  if (!schema) throw new Error(`No definition named ${name}`);
  return schema;
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

const at = (path: string) => (path === '' ? 'the value' : path);

const join = (path: string, name: string) => (path === '' ? name : `${path}.${name}`);
