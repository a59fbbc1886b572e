import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check, type Schema } from './check.ts';
import { schemaProblem } from './schema-problem.ts';

const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };

describe('schemaProblem accepts a schema that', () => {
  it.each<[string, object]>([
    ['is empty', {}],
    ['has unsupported keywords', { type: 'object', patternProperties: { '^a': 5 }, oneOf: 'x' }],
    ['has true and false as schemas', { properties: { a: true, b: false }, items: true }],
    ['has a list of items', { items: [{ type: 'string' }, null] }],
    ['refers to its own definitions', { $defs: { node }, properties: { first: { $ref: '#/$defs/node' } } }],
    ['has `definitions` for `$defs`', { definitions: { a: {} }, properties: { a: { $ref: '#/definitions/a' } } }],
    ['is recursive', { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } } }],
    ['has malformed definitions without a reference', { $defs: { a: null } }],
  ])('%s', (_what, schema) => {
    expect(schemaProblem(schema)).toBeUndefined();
  });
});

describe('schemaProblem rejects a schema that', () => {
  it.each<[string, unknown, string]>([
    ['is null', null, 'p must be an object'],
    ['is a list', [], 'p must be an object'],
    ['has an unknown type', { type: 'float' }, 'p.type must be one of array, object, integer'],
    ['has a type that is no string', { type: null }, 'p.type must be one of'],
    ['holds null as a schema', { properties: { a: { items: null } } }, 'p.properties.a.items must be an object'],
    ['has an array as properties', { properties: [] }, 'p.properties must be an object'],
    ['requires a number', { required: 5 }, 'p.required must be an array of names'],
    ['has an enum that is no list', { properties: { a: { enum: 'a' } } }, 'p.properties.a.enum must be an array'],
    ['has alternatives that are no list', { anyOf: {} }, 'p.anyOf must be an array'],
    ['refers to a missing definition', { items: { $ref: '#/$defs/a' } }, 'p.items.$ref names nothing: #/$defs/a'],
    ['refers to an inherited property', { $defs: {}, $ref: '#/$defs/constructor' }, 'p.$ref names nothing'],
    ['refers to a URL', { $ref: 'https://example.com/schema' }, 'p.$ref names nothing: https://example.com/schema'],
    ['refers to itself directly', { $ref: '#' }, 'p refers to itself without end'],
    [
      'refers to itself through a definition',
      { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { anyOf: [{}, { $ref: '#/$defs/a' }] } } },
      'refers to itself without end',
    ],
  ])('%s', (_what, schema, problem) => {
    expect(schemaProblem(schema, 'p')).toContain(problem);
  });
});

const anyChildSchema = fc.oneof(
  fc.constantFrom({}, true, null, { $ref: '#' }, { $ref: '#/$defs/a' }, { $ref: '#/$defs/b' }, { type: 'string' }),
  fc.record({ anyOf: fc.array(fc.constantFrom({}, { $ref: '#' }, { $ref: '#/$defs/b' }), { maxLength: 2 }) }),
);

const anyAlmostValidSchema = fc.record(
  {
    $ref: fc.constantFrom('#', '#/$defs/a', '#/$defs/b'),
    type: fc.constantFrom('object', 'array', ['null', 'object']),
    anyOf: fc.array(anyChildSchema, { maxLength: 2 }),
    items: anyChildSchema,
    properties: fc.dictionary(fc.constantFrom('a', 'b'), anyChildSchema),
    required: fc.constantFrom(['a'], [], 'a'),
    $defs: fc.dictionary(fc.constantFrom('a', 'b'), anyChildSchema),
  },
  { requiredKeys: [] },
);

it('check throws for no schema that schemaProblem accepts', () => {
  fc.assert(
    fc.property(anyAlmostValidSchema, fc.jsonValue({ maxDepth: 3 }), (candidate, value) => {
      if (schemaProblem(candidate) === undefined) expect(() => check(candidate as Schema, value)).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});
