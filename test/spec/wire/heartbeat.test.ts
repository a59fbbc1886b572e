import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { newGate } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

verifies('I11 I12', 'heartbeats are blocked on the provider while the run waits for the model', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'there' }] }] });
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next(
    ({ type, message }) => type === 'message_start' && (message as { role: string }).role === 'assistant',
  );

  const beats = [await peer.next('heartbeat'), await peer.next('heartbeat'), await peer.next('heartbeat')];
  gate.open();
  await peer.next('agent_settled');

  for (const beat of beats) {
    expect(beat).toEqual({
      type: 'heartbeat',
      runId,
      blockedOn: { kind: 'provider', elapsedMs: expect.any(Number) },
    });
  }
});

verifies('I12', 'heartbeats name the tool that the run waits for', async ({ open }) => {
  const command = 'until [ -e go ]; do sleep 0.01; done';
  const { peer, home } = await open({
    script: [{ toolCall: { name: 'bash', arguments: { command }, id: 'call_1' } }, { text: 'done' }],
  });
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
  await peer.next('tool_execution_start');

  const beat = await peer.next('heartbeat');
  writeFileSync(join(home.cwd, 'go'), '');
  await peer.next('tool_execution_end');
  await peer.next('agent_settled');

  expect(beat).toEqual({
    type: 'heartbeat',
    runId,
    blockedOn: { kind: 'tool', elapsedMs: expect.any(Number), toolCallId: 'call_1', toolName: 'bash' },
  });
});

const slow = [{ text: 'a', times: 40, delayMs: 2 }];

verifies('I11', 'heartbeats are sent only while a client subscribes to them', async ({ open }) => {
  const { peer } = await open({ script: [...slow, ...slow] });

  const withoutHello = await peer.run('go');
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  await peer.ok({ type: 'hello', heartbeatMs: 0 });
  const from = peer.records.length;
  await peer.run('go on');

  expect(withoutHello.map(({ type }) => type)).not.toContain('heartbeat');
  expect(peer.records.slice(from).map(({ type }) => type)).not.toContain('heartbeat');
});

verifies('I11', 'an interval over the timer limit is clamped', async ({ open }) => {
  const { peer, process } = await open({ script: slow });

  const { capabilities } = await peer.ok({ type: 'hello', heartbeatMs: 10 ** 12 });
  const records = await peer.run('go');

  expect(capabilities).toMatchObject({ heartbeatMs: 2 ** 31 - 1 });
  expect(process?.stderr() ?? '').toBe('');
  expect(records.map(({ type }) => type)).not.toContain('heartbeat');
});
