import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check, type Definitions, type Schema } from './check.ts';

const thing: Schema = {
  type: 'object',
  required: ['name'],
  additionalProperties: false,
  properties: { name: { type: 'string', minLength: 1 }, size: { type: 'integer', minimum: 0, maximum: 9 } },
};

describe('check accepts or rejects one value', () => {
  it.each<[string, Schema, unknown]>([
    ['anything', {}, { a: [null] }],
    ['a string', { type: 'string' }, ''],
    ['a number', { type: 'number' }, 0.5],
    ['a whole number', { type: 'integer' }, -3],
    ['a flag', { type: 'boolean' }, false],
    ['null', { type: 'null' }, null],
    ['one of two types', { type: ['string', 'null'] }, null],
    ['an empty array', { type: 'array', items: { type: 'string' } }, []],
    ['an empty object', { type: 'object' }, {}],
    ['a constant', { const: false }, false],
    ['a word of a set', { enum: ['a', null] }, null],
    ['the smallest number', { type: 'integer', minimum: 0 }, 0],
    ['the largest number', { type: 'integer', maximum: 9 }, 9],
  ])('it accepts %s', (_title, schema, value) => {
    expect(check(schema, value)).toBeUndefined();
  });

  it.each<[string, Schema, unknown]>([
    ['the value must be a string', { type: 'string' }, 1],
    ['the value must be a string', { type: 'string' }, null],
    ['the value must be a number', { type: 'number' }, '1'],
    ['the value must be a number', { type: 'number' }, Number.POSITIVE_INFINITY],
    ['the value must be a whole number', { type: 'integer' }, 0.5],
    ['the value must be a whole number', { type: 'integer' }, Number.NaN],
    ['the value must be true or false', { type: 'boolean' }, 0],
    ['the value must be null', { type: 'null' }, false],
    ['the value must be an array', { type: 'array' }, { length: 0 }],
    ['the value must be an object', { type: 'object' }, []],
    ['the value must be an object', { type: 'object' }, null],
    ['the value must be a string or null', { type: ['string', 'null'] }, 1],
    ['the value must be "a"', { const: 'a' }, 'b'],
    ['the value must be one of "a", "b"', { enum: ['a', 'b'] }, 'c'],
    ['the value must not be empty', { type: 'string', minLength: 1 }, ''],
    ['the value must be at least 0', { type: 'integer', minimum: 0 }, -1],
    ['the value must be at most 9', { type: 'integer', maximum: 9 }, 10],
  ])('it rejects with: %s', (problem, schema, value) => {
    expect(check(schema, value)).toBe(problem);
  });
});

describe('check of objects and arrays', () => {
  it('requires the required fields, and counts undefined as absent', () => {
    expect(check(thing, { size: 1 })).toBe('name is required');
    expect(check(thing, { name: undefined })).toBe('name is required');
    expect(check(thing, { name: 'a', size: undefined })).toBeUndefined();
  });

  it('does not count inherited properties as fields', () => {
    const schema: Schema = { type: 'object', required: ['constructor', 'toString'] };

    expect(check(schema, {})).toBe('constructor is required');
    expect(check({ properties: { valueOf: { type: 'string' } } }, {})).toBeUndefined();
    expect(check(schema, JSON.parse('{"constructor":1,"toString":2}'))).toBeUndefined();
  });

  it('treats an own field named __proto__ like any other', () => {
    const value = JSON.parse('{"name":"a","__proto__":{"size":"large"}}');

    expect(check(thing, value)).toBeUndefined();
    expect(check(thing, value, { closed: true })).toBe('__proto__ is not a known field');
  });

  it('names the path of the problem', () => {
    const schema: Schema = { properties: { list: { type: 'array', items: { properties: { inner: thing } } } } };

    expect(check(schema, { list: [{}, { inner: { name: 'a', size: 'b' } }] })).toBe(
      'list[1].inner.size must be a whole number',
    );
    expect(check({ type: 'array', items: { type: 'string' } }, ['a', 1])).toBe('[1] must be a string');
  });

  it('allows unknown fields unless the schema and the options are closed', () => {
    const more = { name: 'a', color: 'red' };

    expect(check(thing, more)).toBeUndefined();
    expect(check(thing, more, { closed: true })).toBe('color is not a known field');
    expect(check({ ...thing, additionalProperties: true }, more, { closed: true })).toBeUndefined();
    expect(check(thing, { ...more, color: undefined }, { closed: true })).toBeUndefined();
  });
});

describe('check of unions and references', () => {
  const definitions: Definitions = {
    Circle: {
      type: 'object',
      required: ['type', 'radius'],
      properties: { type: { const: 'circle' }, radius: { type: 'number' } },
    },
    Square: {
      type: 'object',
      required: ['type', 'side'],
      properties: { type: { const: 'square' }, side: { type: 'number' } },
    },
    Shape: { anyOf: [{ $ref: '#/$defs/Circle' }, { $ref: '#/$defs/Square' }] },
    Tree: { properties: { children: { type: 'array', items: { $ref: '#/$defs/Tree' } }, size: { type: 'integer' } } },
  };
  const shape: Schema = { $ref: '#/$defs/Shape' };

  it('selects the member by its constant field and reports the problem of that member', () => {
    expect(check(shape, { type: 'square', side: 1 }, { definitions })).toBeUndefined();
    expect(check(shape, { type: 'square', radius: 1 }, { definitions })).toBe('side is required');
    expect(check(shape, { type: 'star' }, { definitions })).toBe('the value has an unknown shape');
    expect(check(shape, 'circle', { definitions })).toBe('the value has an unknown shape');
  });

  it('finds a member inside a nested union', () => {
    const schema: Schema = { anyOf: [{ type: 'null' }, shape] };

    expect(check(schema, null, { definitions })).toBeUndefined();
    expect(check(schema, { type: 'circle', radius: 1 }, { definitions })).toBeUndefined();
    expect(check(schema, { type: 'circle', radius: 'r' }, { definitions })).toBe('radius must be a number');
  });

  it('selects a member whose optional constant is absent', () => {
    const image: Schema = { type: 'object', required: ['data'], properties: { type: { const: 'image' }, data: {} } };

    expect(check({ anyOf: [image] }, { data: 'x' })).toBeUndefined();
    expect(check({ anyOf: [image] }, { type: 'text', data: 'x' })).toBe('the value has an unknown shape');
  });

  it('accepts a value that fits any candidate', () => {
    const schema: Schema = {
      anyOf: [
        { type: 'string', enum: ['a'] },
        { type: 'string', enum: ['b'] },
      ],
    };

    expect(check(schema, 'a')).toBeUndefined();
    expect(check(schema, 'b')).toBeUndefined();
    expect(check(schema, 'c')).toBe('the value must be one of "a"');
  });

  it('follows recursive schemas', () => {
    const tree: Schema = { $ref: '#/$defs/Tree' };

    expect(check(tree, { children: [{ children: [{ size: 1 }] }] }, { definitions })).toBeUndefined();
    expect(check(tree, { children: [{ children: [{ size: 'x' }] }] }, { definitions })).toBe(
      'children[0].children[0].size must be a whole number',
    );
  });

  it('follows the definitions of the schema, under either name, and a reference to the schema itself', () => {
    const size: Schema = { type: 'integer' };
    const thing: Schema = { properties: { a: { $ref: '#/$defs/size' }, again: { $ref: '#' } }, $defs: { size } };
    const old: Schema = { properties: { a: { $ref: '#/definitions/size' } }, definitions: { size } };

    expect(check(thing, { a: 1, again: { a: 2 } })).toBeUndefined();
    expect(check(thing, { again: { again: { a: 'x' } } })).toBe('again.again.a must be a whole number');
    expect(check(old, { a: 'x' })).toBe('a must be a whole number');
  });

  it('throws for an undefined reference: that is a mistake in the table', () => {
    expect(() => check({ $ref: '#/$defs/Nobody' }, 1, { definitions })).toThrow('No definition named Nobody');
  });
});

it('check never throws and never changes a value', () => {
  const definitions: Definitions = { Thing: thing };
  const schema: Schema = { anyOf: [{ $ref: '#/$defs/Thing' }, { type: 'array', items: { $ref: '#/$defs/Thing' } }] };

  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = JSON.stringify(value);

      const problem = check(schema, value, { definitions, closed: true });

      expect(problem === undefined || problem.length > 0).toBe(true);
      expect(JSON.stringify(value)).toBe(before);
    }),
  );
});
