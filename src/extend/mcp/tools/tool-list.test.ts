import { expect, it } from 'vitest';
import { listTools, MAX_LIST_CHARACTERS, MAX_MCP_TOOLS, MAX_TOOL_CHARACTERS } from './tool-list.ts';

const tool = (name: string, more: object = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const plain = { runsTasks: false, checksHeaders: false };
const listed = (tools: unknown) => listTools(async () => ({ tools }), plain);

it('reads all pages', async () => {
  const pages: Record<string, unknown> = {
    first: { tools: [tool('a')], nextCursor: 'second' },
    second: { tools: [tool('b')] },
  };

  const { tools, problems } = await listTools(async (cursor = 'first') => pages[cursor], plain);

  expect([tools.map(({ name }) => name), problems]).toEqual([['a', 'b'], []]);
});

it('a malformed list rejects', async () => {
  for (const page of [undefined, null, [], {}, { tools: {} }]) {
    await expect(listTools(async () => page, plain)).rejects.toThrow('its list of tools cannot be understood');
  }
});

it('keeps a schema but for top-level keywords that providers reject', async () => {
  const properties = { a: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/x' }] }, b: true };
  const inputSchema = { $schema: 'x', type: 'object', properties, required: ['a'], anyOf: [{}], $defs: { x: {} } };

  const { tools } = await listed([tool('a', { inputSchema, description: 'Does it' }), { name: 'b' }]);

  expect(tools).toEqual([
    {
      name: 'a',
      description: 'Does it',
      parameters: { type: 'object', properties, required: ['a'], $defs: { x: {} } },
      inputSchema,
      isTask: false,
    },
    { name: 'b', description: '', parameters: { type: 'object', properties: {} }, inputSchema: {}, isTask: false },
  ]);
});

it('leaves out malformed tools and reports each', async () => {
  let deep: unknown = {};
  for (let depth = 0; depth < 10_000; depth++) deep = { properties: deep };
  const odd = [
    7,
    tool(''),
    tool('list', { inputSchema: { type: 'array' } }),
    tool('text', { inputSchema: 'object' }),
    tool('deep', { inputSchema: deep }),
    tool('long', { description: 'x'.repeat(MAX_TOOL_CHARACTERS) }),
    tool('fine'),
  ];

  const { tools, problems } = await listed(odd);

  expect(tools.map(({ name }) => name)).toEqual(['fine']);
  expect(problems).toEqual([
    'one of its tools is left out: it has no name',
    'one of its tools is left out: it has no name',
    'its tool "list" is left out: its inputSchema does not describe an object',
    'its tool "text" is left out: its inputSchema does not describe an object',
    'its tool "deep" is left out: its inputSchema is nested too deep',
    'its tool "long" is left out: its description is too long',
  ]);
});

it('limits the number of tools and their total size', async () => {
  const many = await listed(Array.from({ length: MAX_MCP_TOOLS + 1 }, (_, index) => tool(`t${index}`)));
  const count = Math.ceil(MAX_LIST_CHARACTERS / 60_000) + 20;
  const wordy = await listed(
    Array.from({ length: count }, (_, index) => tool(`t${index}`, { description: 'x'.repeat(60_000) })),
  );

  expect(many.tools).toHaveLength(MAX_MCP_TOOLS);
  expect(many.problems).toEqual([`it has more than ${MAX_MCP_TOOLS} tools: the others are left out`]);
  expect(wordy.tools).toHaveLength(Math.floor(MAX_LIST_CHARACTERS / 60_050));
  expect(wordy.problems.at(-1)).toMatch(/^and \d+ more$/);
});
