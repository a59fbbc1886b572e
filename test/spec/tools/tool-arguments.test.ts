import { expect } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { hostTool, sendToolResult, setHostTools, toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { stdioServer, writeMcpServers } from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

/** A schema whose field `v` has these keywords. */
const withField = (field: object) => ({ type: 'object', properties: { v: field } });

const problems: readonly (readonly [keywords: object, value: unknown, problem: string])[] = [
  [{ type: 'string', pattern: '^a+$' }, 'b', 'v: must match pattern'],
  [{ type: 'string', maxLength: 2 }, 'abc', 'v: must not have more than 2 characters'],
  [{ type: 'array', minItems: 2 }, [1], 'v: must not have fewer than 2 items'],
  [{ oneOf: [{ type: 'string' }, { type: 'number' }] }, true, 'v: must be string'],
  [{ type: 'number', multipleOf: 2 }, 3, 'v: must be multiple of 2'],
  [{ type: 'number', exclusiveMaximum: 10 }, 10, 'v: must be < 10'],
  [
    { type: 'array', items: { type: 'object', properties: { n: { type: 'integer', exclusiveMinimum: 0 } } } },
    [{ n: 1 }, { n: 0 }],
    'v[1].n: must be > 0',
  ],
  [{ type: 'object', properties: {}, additionalProperties: false }, { x: 1 }, 'v.x: is not a known field'],
];

verifies('T24', 'every keyword of a schema is checked, and the error names the path', async ({ open }) => {
  const steps = problems.map(([, v], index) => toolCallStep(`t${index}`, { v }, `call${index}`));
  const { peer } = await open({ script: [{ steps }, { text: 'done' }] });
  const tools = problems.map(([keywords], index) => hostTool(`t${index}`, { parameters: withField(keywords) }));
  await setHostTools(peer, ...tools);

  const ends = toolEnds(await peer.run('go'));

  for (const [index, [, , problem]] of problems.entries()) {
    expect(ends.find(({ toolCallId }) => toolCallId === `call${index}`)).toMatchObject({
      isError: true,
      text: expect.stringContaining(`Validation failed for tool "t${index}":\n  - ${problem}`),
    });
  }
});

verifies('T24', 'arguments of extension and MCP tools are checked against their whole schema', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'tool.ts',
    `export default (pi) => pi.registerTool({
      name: 'e', description: 'x', parameters: { type: 'object', properties: { v: { type: 'string', pattern: '^a$' } } },
      execute: async () => ({ content: [{ type: 'text', text: 'ran' }] }),
    });`,
  );
  const inputSchema = {
    type: 'object',
    properties: { v: { type: 'string', maxLength: 1 } },
    oneOf: [{ required: ['v'] }],
  };
  writeMcpServers(home, { s: stdioServer({ tools: [{ name: 'answer', inputSchema }] }) });
  const calls = [
    toolCallStep('e', { v: 'b' }),
    toolCallStep('s__answer', { v: 'bb' }),
    toolCallStep('s__answer', {}),
    toolCallStep('e', { v: 'a' }),
  ];
  const { peer } = await open({ home, script: [{ steps: calls }, { text: 'done' }] });

  const ends = toolEnds(await peer.run('go'));

  const text = (part: string) => ends.find((end) => end.text.includes(part));
  expect(text('"e":\n  - v: must match pattern')).toMatchObject({ isError: true });
  expect(text('"s__answer":\n  - v: must not have more than 1 characters')).toMatchObject({ isError: true });
  expect(ends.filter(({ isError }) => isError)).toHaveLength(3);
  expect(ends.filter(({ text: result }) => result === 'ran')).toHaveLength(1);
});

const CATASTROPHIC = '^(a+)+$';

verifies('T25', 'arguments that cannot be checked in time fail the call', async ({ open }) => {
  const call = toolCallStep('slow', { v: `${'a'.repeat(40)}!` });
  const { peer } = await open({ script: [{ steps: [call] }, { steps: [call] }, { text: 'done' }] });
  await setHostTools(peer, hostTool('slow', { parameters: withField({ type: 'string', pattern: CATASTROPHIC }) }));

  const records = await peer.run('go');

  expect(toolEnds(records)).toEqual(
    Array(2).fill(
      expect.objectContaining({ isError: true, text: expect.stringContaining('cannot be checked in time') }),
    ),
  );
  expect(records.map(({ type }) => type)).not.toContain('host_tool_call');
});

const BAD_PATTERN = '^(?i)x';

verifies('T25', 'a malformed expression leaves the rest of the schema checked and is named once', async ({ open }) => {
  const bad = { type: 'string', pattern: BAD_PATTERN };
  const parameters = {
    type: 'object',
    required: ['a'],
    properties: { a: bad, n: { type: 'number', maximum: 5 }, list: { type: 'array', items: bad, maxItems: 1 } },
  };
  const calls = [{ a: 'zz', n: 'none' }, { a: 'zz', list: ['z', 'z'] }, { n: 1 }, { a: 'zz', n: 4, list: ['z'] }];
  const steps = calls.map((args) => toolCallStep('half', args));
  const { peer } = await open({ script: [{ steps }, { text: 'done' }] });
  await setHostTools(peer, hostTool('half', { parameters }));
  await peer.ok({ type: 'prompt', message: 'go' });

  sendToolResult(peer, await peer.next('host_tool_call'), 'ran');
  await peer.next('agent_settled');

  expect(toolEnds(peer.records).map(({ text }) => text.split('\n\n')[0])).toEqual([
    expect.stringContaining('n: must be a number'),
    expect.stringContaining('list: must not have more than 1 items'),
    expect.stringContaining('a: is required'),
    'ran',
  ]);
  expect(peer.records.filter(({ type }) => type === 'warning')).toEqual([
    expect.objectContaining({
      source: 'agent',
      message: `The arguments of the tool half are checked without expressions that are malformed: "${BAD_PATTERN}"`,
    }),
  ]);
});
