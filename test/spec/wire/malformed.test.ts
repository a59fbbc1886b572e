import { expect } from 'vitest';
import type { Schema } from '../../../src/protocol/check.ts';
import { commandParams } from '../../../src/protocol/generated/inbound.ts';
import type { CommandName } from '../../../src/protocol/generated/vocabulary.ts';
import type { Peer } from '../../support/clients/peer.ts';
import {
  commandNames,
  type Fields,
  fullParams,
  resolveSchema,
  sampleParams,
} from '../../support/protocol/sample-params.ts';
import { verifies } from '../../support/verifies.ts';

const PREFIX = 'Invalid parameters: ';

/** Invalid parameters, and the position that the error must name. */
interface InvalidParams {
  readonly position: string;
  readonly params: Fields;
}

/** An invalid value, and the position of the problem in it. */
interface InvalidValue {
  readonly position: string;
  readonly value: unknown;
}

const invalidValues = (...values: unknown[]): InvalidValue[] => values.map((value) => ({ position: '', value }));

/** Values that this schema does not allow, one for each kind of error. */
function invalidValuesFor(schema: Schema): InvalidValue[] {
  const plain = resolveSchema(schema);
  if (plain.anyOf) return [...invalidValues(null, 5, 'text', [], {}), ...plain.anyOf.flatMap(invalidMembers)];
  if (plain.enum) return invalidValues(null, 5, '', 'no such word', [plain.enum[0]], true);
  switch (plain.type) {
    case 'string':
      return invalidValues(null, 5, true, ['a'], { a: 1 }, ...(plain.minLength ? [''] : []));
    case 'boolean':
      return invalidValues(null, 0, 1, 'true', '', [], {});
    case 'integer':
      return invalidValues(null, '1', 1.5, true, [1], ...(plain.minimum === undefined ? [] : [plain.minimum - 1]));
    case 'number':
      return invalidValues(null, '1', true, [1], {});
    case 'array':
      return [...invalidValues(null, 'a', 1, {}, { length: 0 }), ...invalidItems(plain.items ?? {})];
    case 'object':
      return [...invalidValues(null, 'a', 1, [], true), ...invalidFields(plain)];
    default:
      throw new Error(`A field of type ${plain.type} is not known here`);
  }
}

/** Checks no position inside a union: it depends on which member is meant. */
const invalidMembers = (member: Schema): InvalidValue[] =>
  invalidValues(...invalidFields(resolveSchema(member)).map(({ value }) => value));

const invalidItems = (items: Schema): InvalidValue[] =>
  invalidValuesFor(items).map(({ position, value }) => ({ position: `[0]${position}`, value: [value] }));

/** The object without each of its required fields, and with each of its fields invalid. */
function invalidFields(schema: Schema): InvalidValue[] {
  const valid = Object.fromEntries((schema.required ?? []).map((name) => [name, sampleOf(schema, name)]));
  const missing = (schema.required ?? []).map((name) => {
    const { [name]: _left, ...value } = valid;
    return { position: `.${name}`, value };
  });
  const invalid = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    invalidValuesFor(field).map(({ position, value }) => ({
      position: `.${name}${position}`,
      value: { ...valid, [name]: value },
    })),
  );
  return [...missing, ...invalid];
}

function sampleOf(schema: Schema, name: string): unknown {
  const field = resolveSchema(schema.properties?.[name] ?? {});
  if (field.type === 'string') return field.const ?? field.enum?.[0] ?? 'sample';
  return field.type === 'array' ? [] : {};
}

function invalidParamsOf(name: CommandName): InvalidParams[] {
  const schema = commandParams[name];
  const valid = sampleParams(name);
  const missing = (schema.required ?? []).map((field) => {
    const { [field]: _left, ...params } = valid;
    return { position: field, params };
  });
  const invalid = Object.entries(schema.properties ?? {}).flatMap(([field, inner]) =>
    invalidValuesFor(inner).map(({ position, value }) => ({
      position: `${field}${position}`,
      params: { ...valid, [field]: value },
    })),
  );
  return [...missing, ...invalid];
}

async function checkRejectsAll(peer: Peer, name: CommandName): Promise<void> {
  const cases = invalidParamsOf(name);

  for (const [id, { params }] of cases.entries()) peer.send({ id, type: name, ...params });
  await peer.ok({ id: 'last', type: 'get_commands' });

  const responses = peer.records.filter(({ type, id }) => type === 'response' && id !== 'last');
  expect(responses).toEqual(
    cases.map((_case, id) => ({
      id,
      type: 'response',
      command: name,
      success: false,
      error: expect.stringContaining(PREFIX),
      code: 'invalid_params',
    })),
  );
  const unnamedPositions = cases.filter(
    ({ position }, id) => !String(responses[id]?.['error']).startsWith(`${PREFIX}${position}`),
  );
  expect(unnamedPositions).toEqual([]);
}

/** Sends every parameter and some unknown ones. */
async function checkIgnoresUnknown(peer: Peer, name: CommandName): Promise<void> {
  const unknown = '"unknown":{"deep":[1]},"__proto__":{"a":1},"constructor":null,"Type":"x"';
  const params = JSON.stringify({ id: 'more', type: name, ...fullParams(name) });
  peer.send(`{${unknown},${params.slice(1)}\n`);

  const response = await peer.find(({ id, type }) => id === 'more' && type === 'response');

  expect(response).toMatchObject({ type: 'response', command: name });
  expect(response['code']).not.toBe('invalid_params');
}

for (const name of commandNames) {
  verifies(
    'E11 C3 C7 C12',
    `${name} rejects invalid parameters`,
    async ({ open }) => checkRejectsAll((await open()).peer, name),
    ['memory'],
  );

  verifies(
    'C16',
    `${name} ignores unknown fields`,
    async ({ open }) => checkIgnoresUnknown((await open({ args: ['--no-session'] })).peer, name),
    ['memory'],
  );
}

verifies(
  'E11 C16',
  'an agent process rejects and ignores the same fields',
  async ({ open }) => {
    for (const name of ['prompt', 'hello', 'set_model', 'get_entries', 'set_host_tools', 'set_todos'] as const) {
      const { peer } = await open();
      await checkRejectsAll(peer, name);
      await checkIgnoresUnknown(peer, name);
    }
  },
  ['stdio'],
);
