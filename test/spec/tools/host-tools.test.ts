import { expect, it } from 'vitest';
import { userExtension } from '../../support/agent/extensions.ts';
import { openWithHooks } from '../../support/agent/hooked-agent.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import {
  echoHostTool,
  hostTool,
  sendToolResult,
  setHostTools,
  textContent,
  toolCallStep,
  toolEnds,
  toolResultTexts,
} from '../../support/tools/host-tools.ts';
import { stdioServer, writeMcpServers } from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

const activeTools = async (peer: Peer): Promise<string[]> => (await peer.ok({ type: 'get_state' })).activeTools;

const typesOf = (records: readonly WireRecord[]) => records.map(({ type }) => type);

verifies(
  'H1 H2 H3 H4',
  'a host tool is registered, published and active at once',
  async ({ open }) => {
    const { peer } = await open();
    const before = await activeTools(peer);

    const response = await setHostTools(peer, echoHostTool);

    expect(response).toEqual({ toolNames: ['echo_host'] });
    expect(await activeTools(peer)).toEqual([...before, 'echo_host']);
    expect(await peer.find('state_changed')).toEqual({
      type: 'state_changed',
      state: { activeTools: [...before, 'echo_host'] },
    });
    const { tools } = await peer.ok({ type: 'get_tools' });
    expect(tools.at(-1)).toEqual({
      name: 'echo_host',
      description: 'Echo a value from the embedding host',
      parameters: echoHostTool.parameters,
      active: true,
      source: 'host',
    });
  },
  // A server answers this command itself.
  ['memory', 'websocket'],
);

verifies('H6 H8 H9 H20', 'a host tool call goes to the host, and updates and result come back', async ({ open }) => {
  const { peer } = await open({
    script: [toolCallStep('echo_host', { message: 'hello' }, 'toolu_123'), { text: 'done' }],
  });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });

  const call = await peer.next('host_tool_call');
  peer.send({
    type: 'host_tool_update',
    id: call.id,
    partialResult: { content: textContent('working'), details: { at: 1 } },
  });
  const update = await peer.next('tool_execution_update');
  sendToolResult(peer, call, '', { result: { content: textContent('hello'), details: { took: 2 } } });
  await waitUntilSettled(peer);

  const named = { toolCallId: 'toolu_123', toolName: 'echo_host' };
  const args = { message: 'hello' };
  expect(call).toEqual({ type: 'host_tool_call', id: expect.any(String), ...named, arguments: args });
  expect(update).toEqual({
    type: 'tool_execution_update',
    ...named,
    args,
    partialResult: { content: textContent('working'), details: { at: 1 } },
  });
  const result = { content: textContent('hello'), details: { took: 2 } };
  expect(await peer.find('tool_execution_end')).toEqual({
    type: 'tool_execution_end',
    ...named,
    result,
    isError: false,
    durationMs: expect.any(Number),
  });
  expect(typesOf(peer.records).indexOf('tool_execution_start')).toBeLessThan(peer.records.indexOf(call));
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[2]).toMatchObject({ role: 'toolResult', ...named, ...result, isError: false });
});

verifies('H10', 'a failed host tool result keeps its content and details', async ({ open }) => {
  const image = { type: 'image', data: 'aGk=', mimeType: 'image/png' };
  const failures = [
    { content: [...textContent('no '), image, ...textContent('way')], details: { code: 7 } },
    { content: [], details: { code: 8 } },
    { content: textContent(' \n') },
    { content: [image] },
  ];
  const { peer } = await open({ script: [{ steps: failures.map(() => toolCallStep('fails')) }, { text: 'done' }] });
  await setHostTools(peer, hostTool('fails'));
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const result of failures) {
    peer.send({ type: 'host_tool_result', id: (await peer.next('host_tool_call')).id, result, isError: true });
  }
  await waitUntilSettled(peer);

  const ends = peer.records.filter(({ type }) => type === 'tool_execution_end');
  const failed = textContent('Host tool execution failed');
  expect(ends.map(({ isError }) => isError)).toEqual([true, true, true, true]);
  expect(ends.map(({ result }) => result)).toEqual([
    failures[0],
    { content: failed, details: { code: 8 } },
    { content: failed },
    failures[3],
  ]);
});

verifies('H20', 'host tool calls run concurrently, and their results are stored in call order', async ({ open }) => {
  const ids = Array.from({ length: 20 }, (_, index) => `call_${index}`);
  const steps = ids.map((id) => toolCallStep('echo_host', { message: id }, id));
  const { peer, process } = await open({ script: [{ steps }, { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });

  const hostCalls: WireRecord[] = [];
  for (const _id of ids) hostCalls.push(await peer.next('host_tool_call'));
  for (const call of hostCalls.toReversed()) sendToolResult(peer, call, `for ${call['toolCallId']}`);
  await waitUntilSettled(peer);

  expect(new Set(hostCalls.map(({ id }) => id)).size).toBe(ids.length);
  expect(toolEnds(peer.records).map(({ toolCallId }) => toolCallId)).toEqual(ids.toReversed());
  expect(toolResultTexts(peer.records)).toEqual(ids.map((id) => `for ${id}`));
  expect(process?.stderr() ?? '').toBe('');
});

verifies('H15', 'invalid arguments are not sent to the host', async ({ open }) => {
  const node = {
    $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['name'] } },
    type: 'object',
    properties: { first: { $ref: '#/$defs/node' } },
  };
  const { peer } = await open({
    script: [
      { steps: [toolCallStep('echo_host', { message: 5 }), toolCallStep('chain', { first: { name: 'a', next: {} } })] },
      { steps: [toolCallStep('chain', { first: { name: 'a', next: { name: 'b' } } })] },
      { text: 'done' },
    ],
  });
  await setHostTools(peer, echoHostTool, hostTool('chain', { parameters: node }));

  await peer.ok({ type: 'prompt', message: 'go' });
  const call = await peer.next('host_tool_call');
  peer.send({ type: 'host_tool_result', id: call['id'], result: { content: [{ type: 'text', text: 'fits' }] } });
  await waitUntilSettled(peer);

  const { records } = peer;
  expect(records.filter(({ type }) => type === 'host_tool_call')).toMatchObject([
    { toolName: 'chain', arguments: { first: { name: 'a', next: { name: 'b' } } } },
  ]);
  expect(toolEnds(records).map(({ isError }) => isError)).toEqual([true, true, false]);
  expect(toolResultTexts(records)).toEqual([
    expect.stringMatching(/^Validation failed for tool "echo_host":\n {2}- message: must be a string/),
    expect.stringMatching(/^Validation failed for tool "chain":\n {2}- first.next.name: is required/),
    'fits',
  ]);
});

verifies('H5 H12', 'another set of host tools replaces the first, and an empty set removes it', async ({ open }) => {
  const { peer } = await open();
  const before = await activeTools(peer);

  await setHostTools(peer, hostTool('one'), hostTool('two'));
  expect(await setHostTools(peer, hostTool('three'), hostTool('two'))).toEqual({ toolNames: ['three', 'two'] });
  expect(await activeTools(peer)).toEqual([...before, 'three', 'two']);
  expect(await setHostTools(peer)).toEqual({ toolNames: [] });

  expect(await activeTools(peer)).toEqual(before);
  const { tools } = await peer.ok({ type: 'get_tools' });
  expect(tools.map(({ source }: { source: string }) => source)).not.toContain('host');
});

verifies('H14', 'hidden host tools start inactive, and a choice lasts as long as the tool name', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'set_active_tools', tools: ['read'] });

  const names = await setHostTools(peer, hostTool('secret', { hidden: true }), hostTool('open'), hostTool('shut'));
  expect(names).toEqual({ toolNames: ['secret', 'open', 'shut'] });
  expect(await activeTools(peer)).toEqual(['read', 'open', 'shut']);
  await peer.ok({ type: 'set_active_tools', tools: ['read', 'secret', 'open'] });
  await setHostTools(peer, hostTool('secret', { hidden: true }), hostTool('shut'), hostTool('new'));
  expect(await activeTools(peer)).toEqual(['read', 'secret', 'new']);
  await setHostTools(peer);
  await setHostTools(peer, hostTool('secret', { hidden: true }), hostTool('shut'));

  expect(await activeTools(peer)).toEqual(['read', 'shut']);
});

verifies('H4', 'a host tool registered during a run is available at the next model call', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [
      { steps: [toolCallStep('read', { path: 'nothing' }), { await: gate.path }] },
      toolCallStep('echo_host', { message: 'now' }),
      { text: 'done' },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('message_update');

  await setHostTools(peer, echoHostTool);
  gate.open();
  sendToolResult(peer, await peer.next('host_tool_call'), 'heard');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records).at(-1)).toBe('heard');
});

it('[H4] the model gets the name, description and parameters of a host tool', async () => {
  const offered: unknown[] = [];
  const { client } = await openWithHooks({
    beforeRequest: async ({ tools }) => {
      offered.push(tools.at(-1));
      return undefined;
    },
  });

  await client.setHostTools({ tools: [hostTool(' bare\n', { description: '\tsays nothing ', parameters: {} })] });
  await client.promptAndWait('say hello');

  expect(offered).toMatchObject([
    { name: 'bare', description: 'says nothing', parameters: { type: 'object', properties: {} } },
  ]);
});

verifies('H21', 'replacing the set during a host tool call does not end the call', async ({ open }) => {
  const { peer } = await open({
    script: [
      toolCallStep('echo_host', { message: 'a' }),
      toolCallStep('echo_host', { message: 'b' }),
      { text: 'done' },
    ],
  });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const call = await peer.next('host_tool_call');

  await setHostTools(peer);
  sendToolResult(peer, call, 'still here');
  await waitUntilSettled(peer);

  expect(typesOf(peer.records)).not.toContain('host_tool_cancel');
  expect(toolResultTexts(peer.records)).toEqual(['still here', 'Tool echo_host not found']);
});

verifies('H7', 'an abort cancels each open host tool call by id and does not wait for the host', async ({ open }) => {
  const ids = ['call_1', 'call_2', 'call_3'];
  const { peer } = await open({
    script: [{ steps: ids.map((id) => toolCallStep('echo_host', { message: id }, id)) }, { text: 'again' }],
  });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'go' });
  const hostCalls: WireRecord[] = [];
  for (const _id of ids) hostCalls.push(await peer.next('host_tool_call'));
  sendToolResult(peer, hostCalls[1] ?? {}, 'in time');
  await peer.next('tool_execution_end');

  await peer.ok({ type: 'abort' });
  for (const call of hostCalls) sendToolResult(peer, call, 'too late');
  const end = await waitUntilSettled(peer);

  const cancels = peer.records.filter(({ type }) => type === 'host_tool_cancel');
  expect(end).toMatchObject({ aborted: true });
  expect(cancels).toEqual(
    [hostCalls[0], hostCalls[2]].map((call) => ({
      type: 'host_tool_cancel',
      id: expect.any(String),
      targetId: call?.['id'],
    })),
  );
  expect(new Set([...cancels, ...hostCalls].map(({ id }) => id)).size).toBe(5);
  const aborted = 'Host tool "echo_host" was aborted';
  expect(toolResultTexts(peer.records)).toEqual([aborted, 'in time', aborted]);
  expect(await peer.run('again')).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'ok' }));
});

verifies('H11', 'a host that does not respond in time fails the call; a late result is ignored', async ({ open }) => {
  const { peer } = await open({ script: [toolCallStep('slow'), { text: 'went on' }] });
  await setHostTools(peer, hostTool('slow', { timeoutMs: 20 }));
  await peer.ok({ type: 'prompt', message: 'go' });

  const call = await peer.next('host_tool_call');
  const cancel = await peer.next('host_tool_cancel');
  sendToolResult(peer, call, 'here I am');
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });

  expect(cancel).toMatchObject({ targetId: call.id });
  expect(toolEnds(peer.records)).toMatchObject([
    { isError: true, text: 'Host tool "slow" did not answer within 20 ms' },
  ]);
});

verifies('H11', 'a timeout longer than a timer can hold does not expire', async ({ open }) => {
  const { peer } = await open({
    script: [{ steps: [toolCallStep('never'), toolCallStep('usual')] }, { text: 'done' }],
  });
  await setHostTools(
    peer,
    hostTool('never', { timeoutMs: Number.MAX_SAFE_INTEGER }),
    hostTool('usual', { timeoutMs: 0 }),
  );
  await peer.ok({ type: 'prompt', message: 'go' });

  for (const reply of ['a', 'b']) sendToolResult(peer, await peer.next('host_tool_call'), reply);
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['a', 'b']);
  expect(typesOf(peer.records)).not.toContain('host_tool_cancel');
});

verifies('H19', 'host tools stay registered over session changes', async ({ open }) => {
  const call = { ...toolCallStep('echo_host', { message: 'a' }), when: 'call' };
  const { peer } = await open({ script: [call, { text: 'one' }, { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.run('go');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  const [entry] = (await peer.ok({ type: 'get_fork_messages' })).messages;

  await peer.ok({ type: 'new_session' });
  expect(await activeTools(peer)).toContain('echo_host');
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
  expect(await activeTools(peer)).toContain('echo_host');
  await peer.ok({ type: 'clone' });
  expect(await activeTools(peer)).toContain('echo_host');
  await peer.ok({ type: 'switch_session', sessionPath: sessionFile });
  await peer.ok({ type: 'fork', entryId: entry.entryId });
  await peer.ok({ type: 'prompt', message: 'call' });
  sendToolResult(peer, await peer.next('host_tool_call'), 'still served');
  await waitUntilSettled(peer);

  expect(toolResultTexts(peer.records)).toEqual(['still served']);
});

verifies('H7 H19', 'a session change cancels an open host tool call', async ({ open }) => {
  const { peer } = await open({
    script: [{ ...toolCallStep('echo_host', { message: 'a' }), when: 'call' }, { text: 'fresh' }],
  });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'prompt', message: 'call' });
  const call = await peer.next('host_tool_call');

  await peer.ok({ type: 'new_session' });

  expect(await peer.find('host_tool_cancel')).toMatchObject({ targetId: call.id });
  expect((await peer.run('go')).at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('H13', 'a name of an extension tool or an MCP tool is refused', async ({ open }) => {
  const home = newHome();
  userExtension(
    home,
    'tool.ts',
    `export default (pi) => pi.registerTool({
      name: 'extended', description: 'x', parameters: { type: 'object', properties: {} },
      execute: async () => ({ content: [] }),
    });`,
  );
  writeMcpServers(home, { s: stdioServer({ tools: [{ name: 'served', inputSchema: { type: 'object' } }] }) });
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_commands' });

  for (const name of ['extended', 's__served']) {
    expect(await peer.refused({ type: 'set_host_tools', tools: [hostTool(name)] })).toMatchObject({
      error: `RPC host tool "${name}" conflicts with an existing tool`,
    });
  }
});
