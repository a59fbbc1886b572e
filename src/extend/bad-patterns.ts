import type { Schema } from '../protocol/check.ts';
import { isObject } from '../protocol/json.ts';

/** Returns the expressions of a schema that JavaScript cannot compile. */
export const badPatternsIn = (schema: Schema): string[] => [...new Set([...patternsIn(schema)].filter(isBad))];

/**
 * Returns a schema without such expressions. It accepts all that the original one accepts: keywords that would reject
 * more without an expression are dropped with it.
 */
export const withoutBadPatterns = (schema: Schema): Schema => loosened(schema) as Schema;

type Fields = Readonly<Record<string, unknown>>;

const SCHEMAS_BY_NAME = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

// Each holds a schema or a list of schemas.
const SCHEMAS = new Set([
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'contains',
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'if',
  'then',
  'else',
]);

function isBad(pattern: unknown): boolean {
  if (typeof pattern !== 'string') return false;
  try {
    new RegExp(pattern, 'u');
    return false;
  } catch {
    return true;
  }
}

function* patternsIn(schema: unknown): Generator<string> {
  if (!isObject(schema)) return;
  const { pattern, patternProperties } = schema;
  if (typeof pattern === 'string') yield pattern;
  if (isObject(patternProperties)) yield* Object.keys(patternProperties);
  for (const inner of innerSchemas(schema)) yield* patternsIn(inner);
}

const innerSchemas = (schema: Fields): unknown[] =>
  Object.entries(schema).flatMap(([keyword, value]) => {
    if (SCHEMAS_BY_NAME.has(keyword)) return isObject(value) ? Object.values(value).flat() : [];
    return SCHEMAS.has(keyword) ? [value].flat() : [];
  });

function loosened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(loosened);
  if (!isObject(schema)) return schema;
  const keywords = Object.entries(schema).filter(([keyword, value]) => staysApplicable(keyword, value, schema));
  return Object.fromEntries(
    keywords.map(([keyword, value]) => {
      // A value that fits one schema may fit several of the loosened ones.
      if (keyword === 'oneOf' && !isExact(value)) return ['anyOf', loosened(value)];
      if (SCHEMAS_BY_NAME.has(keyword) && isObject(value)) return [keyword, loosenedByName(keyword, value)];
      return [keyword, SCHEMAS.has(keyword) ? loosened(value) : value];
    }),
  );
}

function loosenedByName(keyword: string, schemas: Fields): object {
  const entries = Object.entries(schemas).filter(([name]) => keyword !== 'patternProperties' || !isBad(name));
  return Object.fromEntries(entries.map(([name, schema]) => [name, loosened(schema)]));
}

/** Whether a keyword can be applied and rejects nothing more when the schemas around it are loosened. */
function staysApplicable(keyword: string, value: unknown, schema: Fields): boolean {
  switch (keyword) {
    case 'pattern':
      return !isBad(value);
    case 'additionalProperties':
      return !Object.keys(Object(schema['patternProperties'])).some(isBad);
    case 'unevaluatedProperties':
    case 'unevaluatedItems':
      return isExact(schema);
    case 'maxContains':
      return isExact(schema['contains']);
    case 'oneOf':
      return isExact(value) || schema['anyOf'] === undefined;
    case 'not':
      return isExact(value);
    case 'if':
    case 'then':
    case 'else':
      return isExact(schema['if']);
    default:
      return true;
  }
}

/** Whether loosening leaves these schemas as they are. The target of a reference may change. */
const isExact = (schemas: unknown): boolean =>
  [schemas].flat().every((schema) => !refers(schema) && ![...patternsIn(schema)].some(isBad));

const refers = (schema: unknown): boolean =>
  isObject(schema) && ('$ref' in schema || '$dynamicRef' in schema || innerSchemas(schema).some(refers));
