import { expect, it } from 'vitest';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import { hostTool, sendToolResult, setHostTools, toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';

const DISCONNECTED_ERROR = 'RPC client disconnected before host tool execution completed';

const script = [
  { steps: [toolCallStep('mine'), toolCallStep('yours')], when: '^both' },
  { steps: [toolCallStep('mine')], when: '^mine' },
  { text: 'Done.', when: '.', keep: true },
];

async function attachTwo() {
  const server = await startServer({ script });
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });
  return { server, first, second };
}

const calledTools = ({ records }: RemotePeer) =>
  records.filter(({ type }) => type === 'host_tool_call').map(({ toolName }) => toolName);

it('[W35] each call goes to the client that registered its tool, and only its result counts', async () => {
  const { first, second } = await attachTwo();
  expect(await setHostTools(first, hostTool('mine'))).toEqual({ toolNames: ['mine'] });
  expect(await setHostTools(second, hostTool('yours'))).toEqual({ toolNames: ['yours'] });
  await first.ok({ type: 'prompt', message: 'both' });

  const [mine, yours] = [await first.next('host_tool_call'), await second.next('host_tool_call')];
  sendToolResult(second, mine, 'wrong');
  sendToolResult(second, yours, 'right');
  await second.ok({ type: 'get_state' });
  sendToolResult(first, mine, 'right');
  await second.next('agent_settled');

  expect([calledTools(first), calledTools(second)]).toEqual([['mine'], ['yours']]);
  expect(toolEnds(second.records).map(({ text, isError }) => [text, isError])).toEqual([
    ['right', false],
    ['right', false],
  ]);
});

it('[W35] the last client to register a tool gets its calls, and the other client when that disconnects', async () => {
  const { server, first, second } = await attachTwo();
  await setHostTools(first, hostTool('mine'));
  await setHostTools(second, hostTool('mine'), hostTool('yours'));
  await first.ok({ type: 'prompt', message: 'mine' });
  sendToolResult(second, await second.next('host_tool_call'), 'second');
  await first.next('agent_settled');
  await second.disconnect();
  const third = await server.attach({ session: first.cursor.session });

  await third.ok({ type: 'prompt', message: 'both' });
  sendToolResult(first, await first.next('host_tool_call'), 'first');
  await third.next('agent_settled');

  expect(
    toolEnds(third.records)
      .map(({ text }) => text)
      .sort(),
  ).toEqual([DISCONNECTED_ERROR, 'first'].sort());
});

it('[W35] built-in tools cannot be replaced', async () => {
  const { first } = await attachTwo();

  const rejection = await first.refused({ type: 'set_host_tools', tools: [hostTool('bash')] });

  expect(rejection['error']).toBe('RPC host tool "bash" conflicts with an existing tool');
});

it('[W35 W85] a call fails when its client disconnects', async () => {
  const { first, second } = await attachTwo();
  await setHostTools(first, hostTool('mine'));
  await second.ok({ type: 'prompt', message: 'mine' });
  await first.next('host_tool_call');
  first.socket.terminate();
  await second.next('agent_settled');

  expect(toolEnds(second.records)).toMatchObject([{ isError: true, text: DISCONNECTED_ERROR }]);
});

it('[W85] tools follow their client to another session', async () => {
  const { first, second } = await attachTwo();
  await second.run('hello');
  await setHostTools(first, hostTool('mine'));
  await first.ok({ type: 'new_session' });
  await first.next('state_synced');

  await first.ok({ type: 'prompt', message: 'mine' });
  sendToolResult(first, await first.next('host_tool_call'), 'here');
  await first.next('agent_settled');
  await second.run('mine');

  expect(toolEnds(first.records)).toMatchObject([{ isError: false, text: 'here' }]);
  expect(toolEnds(second.records)).toMatchObject([{ isError: true }]);
});

it('[W85] tools follow their client into a session with other clients', async () => {
  const { server, first } = await attachTwo();
  await first.run('hello');
  const { sessionFile } = await first.ok({ type: 'get_state' });
  const third = await server.attach();
  await setHostTools(third, hostTool('mine'));
  await third.ok({ type: 'switch_session', sessionPath: sessionFile });
  await third.ok({ type: 'get_state' });

  await first.ok({ type: 'prompt', message: 'mine' });
  sendToolResult(third, await third.next('host_tool_call'), 'here');
  await first.next('agent_settled');

  expect(toolEnds(first.records)).toMatchObject([{ isError: false, text: 'here' }]);
});

it('[W35] an aborted call is cancelled at its client', async () => {
  const { first, second } = await attachTwo();
  await setHostTools(first, hostTool('mine'));
  await second.ok({ type: 'prompt', message: 'mine' });
  const { id } = await first.next('host_tool_call');

  await second.ok({ type: 'abort' });

  expect(await first.next('host_tool_cancel')).toMatchObject({ targetId: id });
  expect(second.eventTypes).not.toContain('host_tool_cancel');
});
