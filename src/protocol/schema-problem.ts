import type { Schema } from './check.ts';

const TYPES: readonly unknown[] = ['array', 'object', 'integer', 'number', 'string', 'boolean', 'null'];

// The longest chain of `$ref` and `anyOf` that a schema may have.
const MAX_REFERENCE_STEPS = 100;

type Located = readonly [schema: unknown, path: string];

/**
 * Returns why `check` cannot use a foreign schema, with the path of the problem, or undefined when it can. Keywords
 * that `check` ignores are ignored here too.
 */
export function schemaProblem(root: unknown, name = 'schema'): string | undefined {
  if (!isObject(root)) return `${name} must be an object`;
  const paths = new Map<Schema, string>();
  const pending: Located[] = [[root, name]];
  for (const [schema, path] of pending) {
    if (typeof schema === 'boolean') continue;
    if (!isObject(schema)) return `${path} must be an object`;
    if (paths.has(schema)) continue;
    paths.set(schema, path);
    const problem = keywordProblem(schema);
    if (problem) return `${path}.${problem}`;
    if (schema.$ref !== undefined && !dereference(schema.$ref, root))
      return `${path}.$ref names nothing: ${schema.$ref}`;
    pending.push(...childrenOf(schema, path), ...alternativesOf(schema, root).map((inner): Located => [inner, path]));
  }
  const finite = new Set();
  const loop = [...paths].find(([schema]) => isCircular(schema, root, finite));
  return loop && `${loop[1]} refers to itself without end`;
}

function keywordProblem(schema: Schema): string | undefined {
  const { $ref, type, anyOf, properties, required, enum: allowed } = schema as Readonly<Record<string, unknown>>;
  if (!isAbsentOr($ref, (value) => typeof value === 'string')) return '$ref must be a string';
  if (!isAbsentOr(type, (value) => [value].flat().every((word) => TYPES.includes(word)))) {
    return `type must be one of ${TYPES.join(', ')}`;
  }
  if (!isAbsentOr(anyOf, Array.isArray)) return 'anyOf must be an array';
  if (!isAbsentOr(allowed, Array.isArray)) return 'enum must be an array';
  if (!isAbsentOr(properties, isObject)) return 'properties must be an object';
  const areNames = (value: unknown) => Array.isArray(value) && value.every((name) => typeof name === 'string');
  return isAbsentOr(required, areNames) ? undefined : 'required must be an array of names';
}

const isAbsentOr = (value: unknown, fits: (value: unknown) => boolean) => value === undefined || fits(value);

/** The schemas of the fields and items of a value. */
function childrenOf({ properties = {}, items }: Schema, path: string): Located[] {
  const children = Object.entries(properties).map(([name, field]): Located => [field, `${path}.properties.${name}`]);
  return items === undefined || Array.isArray(items) ? children : [...children, [items, `${path}.items`]];
}

/** The schemas that `$ref` or `anyOf` put in place of this one. */
function alternativesOf({ $ref, anyOf = [] }: Schema, root: Schema): readonly unknown[] {
  return $ref === undefined ? anyOf : [dereference($ref, root)];
}

function dereference($ref: string, root: Schema): unknown {
  if ($ref === '#') return root;
  const name = /^#\/(?:\$defs|definitions)\/(.*)$/s.exec($ref)?.[1];
  const definitions = root.$defs ?? root.definitions;
  return name !== undefined && isObject(definitions) && Object.hasOwn(definitions, name)
    ? (definitions as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

/** Whether `$ref` and `anyOf` lead back without end. `finite` collects the schemas that do not. */
function isCircular(schema: unknown, root: Schema, finite: Set<unknown>, steps = 0): boolean {
  if (finite.has(schema) || !isObject(schema)) return false;
  if (steps > MAX_REFERENCE_STEPS) return true;
  const circular = alternativesOf(schema, root).some((inner) => isCircular(inner, root, finite, steps + 1));
  if (!circular) finite.add(schema);
  return circular;
}

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
