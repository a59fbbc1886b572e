import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  FILLER,
  fastRetryHome,
  NEAR_CONTEXT_LIMIT,
  openAfterTwoTurns,
  textWithUsage,
} from '../../support/agent/compaction.ts';
import { bash, callTool, homeWithCommands, nextUiRequest } from '../../support/agent/extensions.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
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
  const command = 'until [ -e go ]; do sleep 0.05; done';
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

const blockedOn = (kind: string) => ({ kind, elapsedMs: expect.any(Number) });

/** Returns the next heartbeat that is blocked on something of this kind. */
const nextBeatOn = (peer: Peer, kind: string) =>
  peer.next(({ type, blockedOn }) => type === 'heartbeat' && (blockedOn as { kind?: string } | null)?.kind === kind);

const ASKING = `
  pi.on('tool_call', async (event, ctx) => ({ block: event.toolName === 'bash' && !(await ctx.ui.confirm('Run?', '')) }));
  pi.registerTool({
    name: 'ask', label: 'Ask', description: 'Asks', parameters: { type: 'object', properties: {} },
    execute: async (id, params, signal, onUpdate, ctx) => ({ content: [{ type: 'text', text: String(await ctx.ui.confirm('Sure?', '')) }], details: {} }),
  });`;

for (const [title, script] of [
  ['a dialog of a tool_call handler', bash('true')],
  ['a dialog of an extension tool', callTool('ask', {})],
] as const)
  verifies('I18', `heartbeats name ${title}`, async ({ open }) => {
    const { home } = homeWithCommands({}, ASKING);
    const { peer } = await open({ home, script: [script, { text: 'done' }] });
    await peer.ok({ type: 'hello', heartbeatMs: 1 });
    const { runId } = await peer.ok({ type: 'prompt', message: 'go' });
    const { id } = await nextUiRequest(peer, 'confirm');

    const beat = await nextBeatOn(peer, 'dialog');
    const later = await nextBeatOn(peer, 'dialog');
    peer.send({ type: 'extension_ui_response', id, confirmed: true });
    await peer.next('agent_settled');

    expect(beat).toEqual({ type: 'heartbeat', runId, blockedOn: blockedOn('dialog') });
    expect(later.blockedOn.elapsedMs).toBeGreaterThanOrEqual(beat.blockedOn.elapsedMs);
    expect((await peer.next('heartbeat')).blockedOn).toBeNull();
  });

verifies('I18', 'heartbeats name a dialog of a command between runs, not during a run', async ({ open }) => {
  const gate = newGate();
  const { home } = homeWithCommands({ ask: "await ctx.ui.confirm('Sure?', '');" });
  const { peer } = await open({ home, script: [{ steps: [{ await: gate.path }, { text: 'there' }] }] });
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  await peer.ok({ type: 'prompt', message: '/ask' });

  const between = await nextBeatOn(peer, 'dialog');
  await peer.ok({ type: 'prompt', message: 'go' });
  const during = await nextBeatOn(peer, 'provider');
  gate.open();
  await peer.next('agent_settled');

  expect(between).toEqual({ type: 'heartbeat', blockedOn: blockedOn('dialog') });
  expect(during).toMatchObject({ blockedOn: blockedOn('provider') });
});

verifies('I18', 'heartbeats name the delay before a retry', async ({ open }) => {
  const home = fastRetryHome({ retry: { baseDelayMs: 10_000_000, maxDelayMs: 100_000_000 } });
  const { peer } = await open({ home, script: [{ error: { status: 529 } }] });
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  const { runId } = await peer.ok({ type: 'prompt', message: 'go' });

  const beat = await nextBeatOn(peer, 'retry');

  expect(beat).toEqual({ type: 'heartbeat', runId, blockedOn: blockedOn('retry') });
  await peer.ok({ type: 'abort' });
});

verifies('I18', 'heartbeats name the compaction that a run waits for', async ({ open }) => {
  const gate = newGate();
  const { peer } = await openAfterTwoTurns(open, [
    textWithUsage('three', NEAR_CONTEXT_LIMIT),
    { steps: [{ await: gate.path }, { text: 'short' }] },
  ]);
  await peer.ok({ type: 'hello', heartbeatMs: 1 });
  const { runId } = await peer.ok({ type: 'prompt', message: `third ${FILLER}` });

  const beat = await nextBeatOn(peer, 'compaction');
  gate.open();
  await peer.next('agent_settled');

  expect(beat).toEqual({ type: 'heartbeat', runId, blockedOn: blockedOn('compaction') });
});

verifies(
  'I18',
  'a server forwards heartbeats that name a dialog',
  async ({ open }) => {
    const { home } = homeWithCommands({}, ASKING);
    const { peer } = await open({ home, script: [bash('true'), { text: 'done' }] });
    await peer.ok({ type: 'hello', heartbeatMs: 1 });
    const { runId } = await peer.ok({ type: 'prompt', message: 'go' });

    expect(await nextBeatOn(peer, 'dialog')).toEqual({ type: 'heartbeat', runId, blockedOn: blockedOn('dialog') });
    await peer.ok({ type: 'abort' });
  },
  ['websocket'],
);

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
