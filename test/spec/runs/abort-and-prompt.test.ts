import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const stall = { stall: true, when: '^stall$' };

verifies('P34 P35 R13', 'abort_and_prompt stops the run and opens another one', async ({ open }) => {
  const gate = newGate();
  const { peer, sessionFiles } = await open({ script: [stall, { steps: [{ await: gate.path }, { text: 'new' }] }] });
  const first = await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.next('message_update');

  const second = await peer.ok({ type: 'abort_and_prompt', message: 'rather this' });

  expect(second).toEqual({ disposition: 'started', runId: expect.any(String) });
  expect(second.runId).not.toBe(first.runId);
  const last = readSessionFile(sessionFiles()[0] ?? '').at(-1);
  expect(last).toMatchObject({ message: { role: 'user', content: [{ text: 'rather this' }] } });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true, runId: second.runId });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ runId: second.runId, outcome: 'ok', aborted: false });
  expect(peer.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([
    { runId: first.runId, outcome: 'aborted', aborted: true },
    { runId: second.runId },
  ]);
  expect(userTexts(peer.records)).toEqual(['stall', 'rather this']);
  expect(assistantTexts(peer.records)).toEqual(['', 'new']);
});

verifies('P35 P3', 'abort_and_prompt responds after the old run ends, before the new one starts', async ({ open }) => {
  const { peer } = await open({ script: [stall, { text: 'new' }] });
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.next('message_update');
  const start = peer.records.length;

  await peer.ok({ type: 'abort_and_prompt', message: 'rather this' });

  await peer.find(({ type, outcome }) => type === 'agent_settled' && outcome === 'ok');
  expect(outline(peer.records.slice(start)).slice(0, 8)).toEqual([
    'message_update:error',
    'message_end',
    'turn_end',
    'agent_end',
    'agent_settled',
    'response',
    'agent_start',
    'turn_start',
  ]);
});

verifies('P36', 'the abort_and_prompt message precedes the queued messages, which stay queued', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [stall, { steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }],
  });
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.next('message_update');
  await peer.ok({ type: 'steer', message: 'steered' });
  await peer.ok({ type: 'follow_up', message: 'followed' });
  const start = peer.records.length;

  const response = await peer.request({ type: 'abort_and_prompt', message: 'rather this' });

  const before = peer.records.slice(start, peer.records.indexOf(response));
  expect(before.filter(({ type }) => type === 'queue_update')).toEqual([]);
  gate.open();
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['stall', 'rather this', 'steered', 'followed']);
  expect(assistantTexts(peer.records)).toEqual(['', 'one', 'two']);
});

verifies('P37', 'abort_and_prompt while the agent is idle acts as prompt', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'here' }] });

  const accepted = await peer.ok({ type: 'abort_and_prompt', message: 'hi', clientMessageId: 'c1' });

  const end = await waitUntilSettled(peer);
  expect(accepted).toEqual({ disposition: 'started', runId: end['runId'] });
  expect(end).toMatchObject({ outcome: 'ok', clientMessageIds: ['c1'] });
  expect(assistantTexts(peer.records)).toEqual(['here']);
});

verifies('P34', 'each of several concurrent abort_and_prompt commands aborts the run before it', async ({ open }) => {
  const { peer } = await open({ script: [stall, { text: 'done' }, { text: 'done' }, { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.next('message_update');

  peer.send(
    ['a', 'b', 'c']
      .map((message) => `${JSON.stringify({ id: message, type: 'abort_and_prompt', message })}\n`)
      .join(''),
  );

  for (const id of ['a', 'b', 'c']) {
    expect(await peer.find((record) => record['id'] === id)).toMatchObject({
      success: true,
      data: { disposition: 'started' },
    });
  }
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(userTexts(peer.records)).toEqual(['stall', 'a', 'b', 'c']);
  const ends = peer.records.filter(({ type }) => type === 'agent_settled').map(({ outcome }) => outcome);
  expect(ends).toEqual(['aborted', 'aborted', 'aborted', 'ok']);
});

verifies('P34', 'abort_and_prompt sent together with a prompt aborts the run of that prompt', async ({ open }) => {
  const { peer } = await open({ script: [stall, { text: 'done' }] });

  peer.send(
    '{"id":"p","type":"prompt","message":"stall"}\n{"id":"q","type":"abort_and_prompt","message":"rather this"}\n',
  );

  expect(await peer.find(({ id }) => id === 'q')).toMatchObject({ success: true });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(userTexts(peer.records)).toEqual(['stall', 'rather this']);
});

verifies('P34', 'a rejected abort_and_prompt leaves the run unchanged', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'done' }] }] });
  await peer.ok({ type: 'prompt', message: 'work' });

  const refusal = await peer.refused({ type: 'abort_and_prompt', message: '' });

  expect(refusal).toMatchObject({ command: 'abort_and_prompt', code: 'invalid_params' });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok', aborted: false });
});

verifies('P34 P42', 'a repeated abort_and_prompt does not abort the run that it opened', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [stall, { steps: [{ await: gate.path }, { text: 'done' }] }] });
  await peer.ok({ type: 'prompt', message: 'stall' });
  const command = { type: 'abort_and_prompt', message: 'rather this', clientMessageId: 'c1' };
  const { runId } = await peer.ok(command);

  const again = await peer.ok(command);

  expect(again).toEqual({ disposition: 'queued', runId, duplicate: true });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ runId, outcome: 'ok', clientMessageIds: ['c1'] });
  expect(userTexts(peer.records)).toEqual(['stall', 'rather this']);
});

verifies('C17', 'an abort sent right after abort_and_prompt cancels it', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'a' }, { stall: true }] }, { text: 'never said' }] });
  await peer.ok({ type: 'prompt', message: 'one' });
  await peer.next('message_update');

  peer.send({ id: 'replace', type: 'abort_and_prompt', message: 'two' });
  peer.send({ id: 'stop', type: 'abort' });

  const replaced = await peer.find(({ id }) => id === 'replace');
  expect(replaced).toMatchObject({ success: false, code: 'agent_busy' });
  await peer.find(({ id }) => id === 'stop');
  expect(await peer.ok({ type: 'wait_idle' })).toMatchObject({ outcome: 'aborted' });
  expect(peer.records.filter(({ type }) => type === 'agent_start')).toHaveLength(1);
});
