import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const ofType = (records: readonly WireRecord[], type: string) => records.filter((record) => record.type === type);

for (const type of ['steer', 'follow_up', 'prompt']) {
  for (const moment of ['message_end', 'turn_end', 'agent_end', 'agent_settled']) {
    verifies('R13 R17 P27 P28 Q19', `a ${type} sent at ${moment} of an ending run is served`, async ({ open }) => {
      const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
      const { runId } = await peer.ok({ type: 'prompt', message: 'first' });
      await peer.next('message_update');

      await peer.next(moment);
      const accepted = await peer.ok({
        type,
        message: 'just in time',
        clientMessageId: 'c1',
        ...(type === 'prompt' && { streamingBehavior: 'followUp' }),
      });

      const end = await waitUntilSettled(peer);
      expect(end).toMatchObject({ outcome: 'ok', runId: accepted.runId, clientMessageIds: ['c1'] });
      expect(accepted.disposition).toBe(accepted.runId === runId ? 'queued' : 'started');
      expect(userTexts(peer.records)).toEqual(['first', 'just in time']);
      expect(assistantTexts(peer.records)).toEqual(['one', 'two']);
      expect(await peer.ok({ type: 'get_state' })).toMatchObject({ pendingMessageCount: 0, isIdle: true });
    });
  }
}

for (const type of ['steer', 'follow_up']) {
  verifies(
    'R12 R13 R14 Q20',
    `a ${type} sent while the run stores its end prolongs the run, and agent_end reports it`,
    async ({ open }) => {
      const { peer } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
      const { runId } = await peer.ok({ type: 'prompt', message: 'first' });
      await peer.next('turn_end');

      const accepted = await peer.ok({ type, message: 'just in time' });

      expect(accepted).toMatchObject({ disposition: 'queued', runId });
      expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok', runId });
      const ends = ofType(peer.records, 'agent_end');
      expect(ends).toMatchObject([
        { willRetry: false, isTerminal: false },
        { willRetry: false, isTerminal: true },
      ]);
      expect(ends.map(({ messages }) => (messages as unknown[]).length)).toEqual([2, 2]);
      expect(ofType(peer.records, 'agent_settled')).toHaveLength(1);
      expect(ofType(peer.records, 'queue_update').at(-1)).toMatchObject({ items: [] });
    },
    ['memory'],
  );
}

for (const moment of ['message_end', 'turn_end', 'agent_end', 'agent_settled']) {
  verifies(
    'P30 P31 R13 R15',
    `an abort sent at ${moment} of an ending run gets its response after agent_settled`,
    async ({ open }) => {
      const { peer } = await open({ script: [{ text: 'one' }] });
      await peer.ok({ type: 'prompt', message: 'first' });
      await peer.next('message_update');

      await peer.next(moment);
      const response = await peer.request({ type: 'abort' });

      const end = await waitUntilSettled(peer);
      expect(peer.records.indexOf(end)).toBeLessThan(peer.records.indexOf(response));
      expect(end).toMatchObject({ aborted: end['outcome'] === 'aborted' });
      expect(assistantTexts(peer.records)).toEqual(['one']);
    },
  );
}

verifies('R13 R14', 'a hundred runs settle a hundred times', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }], args: ['--stream', 'delta'] });

  for (let count = 0; count < 100; count++) await peer.run(`${count}`);

  await waitUntilSettled(peer);
  expect(ofType(peer.records, 'agent_settled')).toHaveLength(100);
  expect(ofType(peer.records, 'agent_start')).toHaveLength(100);
});

verifies('R13 P13', 'prompts sent without waiting are each served or rejected, never lost', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }] });

  const responses = await Promise.all(
    Array.from({ length: 50 }, (_, count) => peer.request({ type: 'prompt', message: `${count}` })),
  );

  await waitUntilSettled(peer);
  const taken = responses.flatMap(({ success }, count) => (success ? [`${count}`] : []));
  expect(responses.every(({ success, code }) => success || code === 'agent_busy')).toBe(true);
  expect(userTexts(peer.records)).toEqual(taken);
  expect(ofType(peer.records, 'agent_settled')).toHaveLength(taken.length);
});

verifies('R13 R17', 'follow-ups sent without waiting are each served exactly once', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'one' }, { repeat: true }], args: ['--stream', 'delta'] });
  const ids = Array.from({ length: 50 }, (_, count) => `c${count}`);

  await Promise.all(ids.map((id) => peer.ok({ type: 'follow_up', message: id, clientMessageId: id })));

  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(ids);
  expect(ofType(peer.records, 'agent_settled').flatMap(({ clientMessageIds }) => clientMessageIds)).toEqual(ids);
});
