import { describe, expect, it } from 'vitest';
import { MAX_CHARS_WITH_UPDATES } from './prompt-run.ts';
import { connect, MEGABYTES, settled } from './testing/agent.ts';

describe('promptAndWait', () => {
  it('[V9 V10] resolves when its own run has settled, with the events of that run only', async () => {
    const { client, emit, respond } = connect();
    const run = client.promptAndWait('hello');

    emit({ type: 'agent_end', messages: ['of another'] }, settled('before'));
    respond('req_1', { data: { disposition: 'started', runId: 'r1' } });
    emit({ type: 'agent_start' }, { type: 'agent_end', messages: ['m1', 'm2'] }, settled('r1'), {
      type: 'agent_start',
    });

    const { settled: last, messages, events } = await run;
    expect(last).toEqual(settled('r1'));
    expect(messages).toEqual(['m1', 'm2']);
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end', 'agent_settled']);
  });

  it('[V10] finds a run that settled before the response was read', async () => {
    const { client, emit, respond } = connect();
    const run = client.promptAndWait({ message: 'hello' });

    emit({ type: 'agent_start' }, settled('r1'));
    respond('req_1', { data: { disposition: 'started', runId: 'r1' } });

    expect((await run).settled).toEqual(settled('r1'));
  });

  it('[V9] waits for the run that a queued prompt joined', async () => {
    const { client, emit, respond } = connect();
    const run = client.promptAndWait({ message: 'and', streamingBehavior: 'followUp' });

    respond('req_1', { data: { disposition: 'queued', runId: 'r1', queueId: 'q1' } });
    emit(settled('r1'));

    expect((await run).settled).toEqual(settled('r1'));
  });

  it('[V9] rejects when the prompt is rejected', async () => {
    const { client, emit } = connect();
    const refused = client.promptAndWait('hello');

    emit({ id: 'req_1', type: 'response', command: 'prompt', success: false, error: 'Busy', code: 'agent_busy' });

    await expect(refused).rejects.toMatchObject({ name: 'CommandFailed', code: 'agent_busy' });
  });

  it.each([
    ['was handled', { disposition: 'handled' }],
    ['is a duplicate that was handled', { disposition: 'handled', duplicate: true }],
    ['is a duplicate that waits in the queue without a run', { disposition: 'queued', queueId: 'q', duplicate: true }],
  ])('[V9] resolves at once when the prompt %s', async (_case, accepted) => {
    const { client, emit, respond } = connect();
    const run = client.promptAndWait({ message: 'hello', clientMessageId: 'c1' });

    emit({ type: 'agent_start' }, settled('another'));
    respond('req_1', { data: accepted });

    expect(await run).toEqual({ accepted, settled: undefined, messages: [], events: [] });
  });

  it('[V9] drops the updates of a very long run', async () => {
    const { client, emit, respond } = connect();
    const run = client.promptAndWait('hello');
    const delta = (text: string) => ({ type: 'text_delta', contentIndex: 0, delta: text });
    const update = (text: string) => ({ type: 'message_update', assistantMessageEvent: delta(text) });

    respond('req_1', { data: { disposition: 'started', runId: 'r1' } });
    emit({ type: 'agent_start' }, update('early'));
    for (let length = 0; length < MAX_CHARS_WITH_UPDATES; length += MEGABYTES.length) emit(update(MEGABYTES));
    emit({ type: 'tool_execution_update' }, { type: 'agent_end', messages: ['m1'] }, settled('r1'));

    const { settled: last, messages, events } = await run;
    expect([last, messages]).toEqual([settled('r1'), ['m1']]);
    expect(events.map(({ type }) => type)).toEqual(['agent_start', 'agent_end', 'agent_settled']);
  });
});
