import type { Schema } from './check.ts';

const TYPES: readonly unknown[] = ['array', 'object', 'integer', 'number', 'string', 'boolean', 'null'];

/** Schemas that may stand for one another, one after the other. */
const MAX_STEPS = 100;

/** A schema and its place in the one that holds it. */
type Placed = readonly [schema: unknown, place: string];

/**
 * Why `check` cannot use a schema that somebody else wrote, naming the place, or nothing when it can. What `check` does
 * not look at is not looked at here either.
 */
export function schemaProblem(root: unknown, name = 'schema'): string | undefined {
  if (!isObject(root)) return `${name} must be an object`;
  const places = new Map<Schema, string>();
  const found: Placed[] = [[root, name]];
  for (const [schema, place] of found) {
    if (typeof schema === 'boolean') continue;
    if (!isObject(schema)) return `${place} must be an object`;
    if (places.has(schema)) continue;
    places.set(schema, place);
    const problem = keywordProblem(schema);
    if (problem) return `${place}.${problem}`;
    if (schema.$ref !== undefined && !target(schema.$ref, root)) return `${place}.$ref names nothing: ${schema.$ref}`;
    found.push(...partsOf(schema, place), ...alternativesOf(schema, root).map((part): Placed => [part, place]));
  }
  const ended = new Set();
  const loop = [...places].find(([schema]) => isEndless(schema, root, ended));
  return loop && `${loop[1]} refers to itself without end`;
}

function keywordProblem(schema: Schema): string | undefined {
  const { $ref, type, anyOf, properties, required, enum: words } = schema as Readonly<Record<string, unknown>>;
  if (!isAbsentOr($ref, (value) => typeof value === 'string')) return '$ref must be a string';
  if (!isAbsentOr(type, (value) => [value].flat().every((word) => TYPES.includes(word)))) {
    return `type must be one of ${TYPES.join(', ')}`;
  }
  if (!isAbsentOr(anyOf, Array.isArray)) return 'anyOf must be an array';
  if (!isAbsentOr(words, Array.isArray)) return 'enum must be an array';
  if (!isAbsentOr(properties, isObject)) return 'properties must be an object';
  const areNames = (value: unknown) => Array.isArray(value) && value.every((name) => typeof name === 'string');
  return isAbsentOr(required, areNames) ? undefined : 'required must be an array of names';
}

const isAbsentOr = (value: unknown, fits: (value: unknown) => boolean) => value === undefined || fits(value);

/** The schemas of what is inside a value. */
function partsOf({ properties = {}, items }: Schema, place: string): Placed[] {
  const parts = Object.entries(properties).map(([name, field]): Placed => [field, `${place}.properties.${name}`]);
  return items === undefined || Array.isArray(items) ? parts : [...parts, [items, `${place}.items`]];
}

/** The schemas of the value itself that stand for this one. */
function alternativesOf({ $ref, anyOf = [] }: Schema, root: Schema): readonly unknown[] {
  return $ref === undefined ? anyOf : [target($ref, root)];
}

function target($ref: string, root: Schema): unknown {
  if ($ref === '#') return root;
  const name = /^#\/(?:\$defs|definitions)\/(.*)$/s.exec($ref)?.[1];
  const definitions = root.$defs ?? root.definitions;
  return name !== undefined && isObject(definitions) && Object.hasOwn(definitions, name)
    ? (definitions as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Whether following what a schema stands for leads on and on. `ended`: those that are known not to. */
function isEndless(schema: unknown, root: Schema, ended: Set<unknown>, steps = 0): boolean {
  if (ended.has(schema) || !isObject(schema)) return false;
  if (steps > MAX_STEPS) return true;
  const endless = alternativesOf(schema, root).some((inner) => isEndless(inner, root, ended, steps + 1));
  if (!endless) ended.add(schema);
  return endless;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
