import { Errors } from 'typebox/schema';
import { expect, it } from 'vitest';
import type { Schema } from '../protocol/check.ts';
import { badPatternsIn, withoutBadPatterns } from './bad-patterns.ts';

const BAD = '(';
const bad = { type: 'string', pattern: BAD };
const good = { type: 'string', pattern: '^a$' };

const accepts = (schema: object, value: unknown) => (Errors(schema, value) as [boolean, unknown])[0];

it.each([
  [{ pattern: BAD }],
  [{ properties: { a: bad } }],
  [{ patternProperties: { [BAD]: {} } }],
  [{ items: bad }],
  [{ items: [good, bad] }],
  [{ anyOf: [good, { allOf: [bad] }] }],
  [{ not: bad }],
  [{ $defs: { a: bad } }],
  [{ additionalProperties: bad }],
  [{ dependencies: { a: ['b'], c: bad } }],
])('%j has one', (schema) => {
  expect(badPatternsIn(schema as object)).toEqual([BAD]);
  expect(badPatternsIn(withoutBadPatterns(schema as object))).toEqual([]);
});

it('text that only looks like an expression is none', () => {
  const schema = { properties: { pattern: { const: { pattern: BAD } } }, default: { pattern: BAD }, enum: [bad] };

  expect(badPatternsIn(schema)).toEqual([]);
});

it('a schema without malformed expressions stays the same', () => {
  const schema = { oneOf: [good, { not: good }], $defs: { a: { maxContains: 1 } }, unevaluatedItems: false, if: good };

  expect(withoutBadPatterns(schema as Schema)).toEqual(schema);
});

it.each([
  ['its additional properties', { patternProperties: { [BAD]: {} }, additionalProperties: false }, { '(': 1 }],
  ['unevaluated ones', { allOf: [{ patternProperties: { [BAD]: {} } }], unevaluatedProperties: false }, { '(': 1 }],
  ['a negation', { not: bad }, 'x'],
  ['a negated reference', { $defs: { b: bad }, not: { $ref: '#/$defs/b' } }, 'x'],
  ['alternatives', { oneOf: [bad, { type: 'string' }] }, 'x'],
  ['alternatives beside others', { oneOf: [bad, { type: 'string' }], anyOf: [good] }, 'a'],
  [
    'a condition',
    Object.fromEntries([
      ['if', bad],
      ['then', false],
    ]),
    'x',
  ],
  ['a count', { contains: bad, maxContains: 1 }, ['x', 'y']],
])('what might fit passes: %s', (_name, schema, value) => {
  expect(accepts(withoutBadPatterns(schema as object), value)).toBe(true);
});

it.each([
  ['other fields', { properties: { a: bad, n: { maximum: 5 } } }, { n: 6 }],
  ['the type', { items: bad }, [1]],
  ['other expressions', { patternProperties: { [BAD]: {}, '^a': { type: 'number' } } }, { a: 'x' }],
  ['all alternatives', { oneOf: [bad, { type: 'number' }] }, true],
  ['other alternatives', { oneOf: [bad], anyOf: [{ type: 'number' }] }, 'x'],
  ['an exact negation', { items: bad, not: { type: 'array', minItems: 2 } }, ['a', 'b']],
])('what cannot fit is rejected: %s', (_name, schema, value) => {
  expect(accepts(withoutBadPatterns(schema as object), value)).toBe(false);
});
