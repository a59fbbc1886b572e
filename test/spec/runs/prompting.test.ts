import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, newGate, readSessionFile } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

/** The user texts in a session file. */
const storedUserTexts = (path: string | undefined) =>
  readSessionFile(path ?? '').flatMap(({ message }) => (message?.role === 'user' ? [message.content[0].text] : []));

verifies('P1 P3 P39 P40', 'a prompt opens a run with its message', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ text: 'Hello world' }] });

  const records = await peer.run({ id: 'p1', message: 'hi there' });

  const [response, second] = records;
  const runId = records.at(-1)?.['runId'];
  expect(response).toEqual({
    id: 'p1',
    type: 'response',
    command: 'prompt',
    success: true,
    data: { disposition: 'started', runId },
  });
  expect(second?.type).toBe('agent_start');
  expect(userTexts(records)).toEqual(['hi there']);
  expect(assistantTexts(records)).toEqual(['Hello world']);
  expect(storedUserTexts(sessionFiles()[0])).toEqual(['hi there']);
  await waitUntilSettled(peer);
});

verifies('P2 P4', 'a prompt gets its response once its message is stored, before the run ends', async ({ open }) => {
  const gate = newGate();
  const { peer, sessionFiles } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'late' }] }] });

  await peer.ok({ type: 'prompt', message: 'take your time' });

  expect(storedUserTexts(sessionFiles()[0])).toEqual(['take your time']);
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: false, isStreaming: true });
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

verifies('P4 P6', 'a failure after acceptance is reported by events, without a second response', async ({ open }) => {
  const { peer } = await open({ settings: NO_RETRY, script: [{ error: { status: 500, message: 'broken' } }] });

  await peer.run({ id: 'p1', message: 'go' });

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'error', errorMessage: '500 broken' });
  const responses = peer.records.filter(({ type, id }) => type === 'response' && id === 'p1');
  expect(responses).toEqual([expect.objectContaining({ success: true })]);
});

verifies('P5 P13', 'a prompt without streamingBehavior during a run is rejected with agent_busy', async ({ open }) => {
  const gate = newGate();
  const { peer, sessionFiles } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'done' }] }] });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.find('agent_start');
  const before = await peer.ok({ type: 'get_state' });

  const refusal = await peer.refused({ type: 'prompt', message: 'second', clientMessageId: 'c2' });

  expect(refusal).toMatchObject({ command: 'prompt', code: 'agent_busy' });
  expect(refusal['error']).toMatch(/^Agent is already running/);
  expect(await peer.ok({ type: 'get_state' })).toEqual(before);
  gate.open();
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok', clientMessageIds: [] });
  expect(userTexts(peer.records)).toEqual(['first']);
  expect(JSON.stringify(readSessionFile(sessionFiles()[0] ?? ''))).not.toContain('second');
});

verifies('P5 P42', 'the client message id of a rejected prompt can be used again', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [{ steps: [{ await: gate.path }, { text: 'one' }] }, { text: 'two' }] });
  await peer.ok({ type: 'prompt', message: 'first' });
  await peer.refused({ type: 'prompt', message: 'second', clientMessageId: 'c2' });
  gate.open();
  await peer.next('agent_settled');

  const accepted = await peer.ok({ type: 'prompt', message: 'second', clientMessageId: 'c2' });

  expect(accepted).toEqual({ disposition: 'started', runId: expect.any(String) });
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok', clientMessageIds: ['c2'] });
});

for (const [what, command] of Object.entries({
  'no message': {},
  'a message that is not a string': { message: 7 },
  'an empty message': { message: '' },
  'an empty message and no images': { message: '', images: [] },
  'images that are not a list': { message: 'x', images: 'y' },
  'an image without data': { message: 'x', images: [{ type: 'image', mimeType: 'image/png' }] },
  'an image with empty data': { message: 'x', images: [{ type: 'image', data: '', mimeType: 'image/png' }] },
  'an unknown streamingBehavior': { message: 'x', streamingBehavior: 'later' },
  'an empty clientMessageId': { message: 'x', clientMessageId: '' },
})) {
  verifies('P5', `a prompt with ${what} is rejected, and no run starts`, async ({ open, greeting }) => {
    const { peer, sessionFiles } = await open({ script: [{ text: 'never' }] });
    await peer.greeted();
    const before = readSessionFile(sessionFiles()[0] ?? '');

    const refusal = await peer.refused({ type: 'prompt', ...command });

    expect(refusal).toMatchObject({ command: 'prompt', code: 'invalid_params' });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 0 });
    expect(readSessionFile(sessionFiles()[0] ?? '')).toEqual(before);
    expect(peer.records.map(({ type }) => type).filter((type) => type !== 'response')).toEqual(greeting);
  });
}

verifies('P5 P27 P28 P37', 'without a usable model every command that opens a run is rejected', async ({ open }) => {
  const { peer, sessionFiles } = await open({ args: ['--model', 'anthropic/claude-opus-5-5'] });
  await peer.greeted();
  const before = readSessionFile(sessionFiles()[0] ?? '');

  for (const type of ['prompt', 'steer', 'follow_up', 'abort_and_prompt']) {
    const refusal = await peer.refused({ type, message: 'hi', clientMessageId: 'c1' });
    expect(refusal).toMatchObject({
      command: type,
      code: 'model_not_found',
      error: expect.stringContaining('No API key found for anthropic'),
    });
  }

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, messageCount: 0, pendingMessageCount: 0 });
  expect(readSessionFile(sessionFiles()[0] ?? '')).toEqual(before);
});

verifies('P14', 'streamingBehavior has no effect on a prompt while the agent is idle', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });

  const first = await peer.run({ message: 'a', streamingBehavior: 'steer' });
  const second = await peer.run({ message: 'b', streamingBehavior: 'followUp' });

  for (const records of [first, second]) {
    expect(records[0]).toMatchObject({ data: { disposition: 'started' } });
    expect(records.filter(({ type }) => type === 'queue_update')).toEqual([]);
  }
  expect(userTexts(peer.records)).toEqual(['a', 'b']);
  await waitUntilSettled(peer);
});

verifies('P2 P13', 'prompts sent in one write are handled in order', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });

  peer.send(
    ['a', 'b', 'c']
      .map((message) => ({
        id: message,
        type: 'prompt',
        message,
        ...(message === 'c' && { streamingBehavior: 'followUp' }),
      }))
      .map((command) => `${JSON.stringify(command)}\n`)
      .join(''),
  );

  const responses = [await peer.next('response'), await peer.next('response'), await peer.next('response')];
  expect(responses).toMatchObject([
    { id: 'a', success: true, data: { disposition: 'started' } },
    { id: 'b', success: false, code: 'agent_busy' },
    { id: 'c', success: true, data: { disposition: 'queued', runId: responses[0].data.runId } },
  ]);
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['a', 'c']);
});
