import { expect } from 'vitest';
import type { Schema } from '../../../src/protocol/check.ts';
import { commandParams } from '../../../src/protocol/generated/inbound.ts';
import type { CommandName } from '../../../src/protocol/generated/vocabulary.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { commandNames, type Fields, fullParams, resolveSchema, sampleParams } from '../../support/protocol/sample-params.ts';
import { verifies } from '../../support/verifies.ts';

const PREFIX = 'Invalid parameters: ';

/** Parameters that a command must refuse, and the place that its refusal must name. */
interface Malformed {
  readonly place: string;
  readonly params: Fields;
}

/** A value that cannot be used, and where in it the problem is. */
interface Wrong {
  readonly inside: string;
  readonly value: unknown;
}

const here = (...values: unknown[]): Wrong[] => values.map((value) => ({ inside: '', value }));

/** Values that this schema does not allow, one for each way to be wrong. */
function wrongFor(schema: Schema): Wrong[] {
  const plain = resolveSchema(schema);
  if (plain.anyOf) return [...here(null, 5, 'text', [], {}), ...plain.anyOf.flatMap(wrongMember)];
  if (plain.enum) return here(null, 5, '', 'no such word', [plain.enum[0]], true);
  switch (plain.type) {
    case 'string':
      return here(null, 5, true, ['a'], { a: 1 }, ...(plain.minLength ? [''] : []));
    case 'boolean':
      return here(null, 0, 1, 'true', '', [], {});
    case 'integer':
      return here(null, '1', 1.5, true, [1], ...(plain.minimum === undefined ? [] : [plain.minimum - 1]));
    case 'number':
      return here(null, '1', true, [1], {});
    case 'array':
      return [...here(null, 'a', 1, {}, { length: 0 }), ...wrongItems(plain.items ?? {})];
    case 'object':
      return [...here(null, 'a', 1, [], true), ...wrongFields(plain)];
    default:
      throw new Error(`A field of type ${plain.type} is not known here`);
  }
}

/** Which member of a union is meant decides where the problem is. */
const wrongMember = (member: Schema): Wrong[] => here(...wrongFields(resolveSchema(member)).map(({ value }) => value));

const wrongItems = (items: Schema): Wrong[] =>
  wrongFor(items).map(({ inside, value }) => ({ inside: `[0]${inside}`, value: [value] }));

/** The object without each of its required fields, and with each of its fields wrong. */
function wrongFields(schema: Schema): Wrong[] {
  const good = Object.fromEntries((schema.required ?? []).map((name) => [name, sampleOf(schema, name)]));
  const lacking = (schema.required ?? []).map((name) => {
    const { [name]: _left, ...value } = good;
    return { inside: `.${name}`, value };
  });
  const spoiled = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    wrongFor(field).map(({ inside, value }) => ({ inside: `.${name}${inside}`, value: { ...good, [name]: value } })),
  );
  return [...lacking, ...spoiled];
}

function sampleOf(schema: Schema, name: string): unknown {
  const field = resolveSchema(schema.properties?.[name] ?? {});
  if (field.type === 'string') return field.const ?? field.enum?.[0] ?? 'sample';
  return field.type === 'array' ? [] : {};
}

function malformed(name: CommandName): Malformed[] {
  const schema = commandParams[name];
  const good = sampleParams(name);
  const lacking = (schema.required ?? []).map((field) => {
    const { [field]: _left, ...params } = good;
    return { place: field, params };
  });
  const spoiled = Object.entries(schema.properties ?? {}).flatMap(([field, inner]) =>
    wrongFor(inner).map(({ inside, value }) => ({ place: `${field}${inside}`, params: { ...good, [field]: value } })),
  );
  return [...lacking, ...spoiled];
}

async function refusesAll(peer: Peer, name: CommandName): Promise<void> {
  const cases = malformed(name);

  for (const [id, { params }] of cases.entries()) peer.send({ id, type: name, ...params });
  await peer.ok({ id: 'last', type: 'get_commands' });

  const answers = peer.records.filter(({ type, id }) => type === 'response' && id !== 'last');
  expect(answers).toEqual(
    cases.map((_case, id) => ({
      id,
      type: 'response',
      command: name,
      success: false,
      error: expect.stringContaining(PREFIX),
      code: 'invalid_params',
    })),
  );
  const unnamed = cases.filter(({ place }, id) => !String(answers[id]?.['error']).startsWith(`${PREFIX}${place}`));
  expect(unnamed).toEqual([]);
}

/** Every parameter is there, and some that nobody knows. */
async function acceptsMore(peer: Peer, name: CommandName): Promise<void> {
  const unknown = '"unknown":{"deep":[1]},"__proto__":{"a":1},"constructor":null,"Type":"x"';
  const params = JSON.stringify({ id: 'more', type: name, ...fullParams(name) });
  peer.send(`{${unknown},${params.slice(1)}\n`);

  const answer = await peer.find(({ id, type }) => id === 'more' && type === 'response');

  expect(answer).toMatchObject({ type: 'response', command: name });
  expect(answer['code']).not.toBe('invalid_params');
}

for (const name of commandNames) {
  verifies(
    'E11 C3 C7 C12',
    `${name} refuses whatever it cannot use`,
    async ({ open }) => refusesAll((await open()).peer, name),
    ['memory'],
  );

  verifies(
    'C16',
    `${name} ignores what it does not know`,
    async ({ open }) => acceptsMore((await open({ args: ['--no-session'] })).peer, name),
    ['memory'],
  );
}

verifies(
  'E11 C16',
  'a process refuses and ignores the same',
  async ({ open }) => {
    for (const name of ['prompt', 'hello', 'set_model', 'get_entries', 'set_host_tools', 'set_todos'] as const) {
      const { peer } = await open();
      await refusesAll(peer, name);
      await acceptsMore(peer, name);
    }
  },
  ['stdio'],
);
