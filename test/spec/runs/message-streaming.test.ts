import fc from 'fast-check';
import { expect } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

interface Step {
  type: string;
  contentIndex: number;
  delta: string;
  content: string;
  [field: string]: unknown;
}

interface Message {
  role: string;
  content: Record<string, unknown>[];
  [field: string]: unknown;
}

const messageOf = (record: WireRecord | undefined) => record?.['message'] as Message;
const stepOf = (record: WireRecord) => record['assistantMessageEvent'] as Step;

/** The records of each message, from its start to its end. */
function messages(records: readonly WireRecord[]): WireRecord[][] {
  const all: WireRecord[][] = [];
  for (const record of records) {
    if (record.type === 'message_start') all.push([]);
    if (record.type.startsWith('message_')) all.at(-1)?.push(record);
  }
  return all;
}

const assistantMessagesIn = (records: readonly WireRecord[]) =>
  messages(records).filter(([start]) => messageOf(start).role === 'assistant');

/** The content after one more step, folded as the reference specifies. */
function applyStep(content: Message['content'], step: Step): Message['content'] {
  const block = content[step.contentIndex] ?? {};
  const replace = (next: Record<string, unknown>) => content.toSpliced(step.contentIndex, 1, next);
  switch (step.type) {
    case 'text_start':
      return replace({ type: 'text', text: '' });
    case 'thinking_start':
      return replace({ type: 'thinking', thinking: '' });
    case 'text_delta':
      return replace({ ...block, text: `${block['text']}${step.delta}` });
    case 'thinking_delta':
      return replace({ ...block, thinking: `${block['thinking']}${step.delta}` });
    case 'toolcall_start':
      return replace({ type: 'toolCall', id: step['id'], name: step['toolName'], arguments: {} });
    case 'toolcall_end':
      return replace(step['toolCall'] as Record<string, unknown>);
    default:
      return content;
  }
}

const rich = {
  steps: [
    { thinking: 'First I think. ', chunks: 3 },
    { text: 'Then I speak, at some length.' },
    { toolCall: { name: 'bash', id: 'call_1', arguments: { command: 'echo hi' } }, chunks: 4 },
    { text: 'Between two calls.' },
    { toolCall: { name: 'read', id: 'call_2', arguments: { path: 'missing' } }, chunks: 2 },
  ],
};

verifies('M1 M2 M3 M16', 'every message has a start and an end; only the assistant has updates', async ({ open }) => {
  const { peer } = await open({ script: [rich, { text: 'done' }] });

  const records = await peer.run('go');

  const outlines = messages(records).map((list) => {
    const between = list.slice(1, -1).map(({ type }) => type);
    return { role: messageOf(list[0]).role, ends: list.at(-1)?.type, between: [...new Set(between)] };
  });
  expect(outlines).toEqual([
    { role: 'user', ends: 'message_end', between: [] },
    { role: 'assistant', ends: 'message_end', between: ['message_update'] },
    { role: 'toolResult', ends: 'message_end', between: [] },
    { role: 'toolResult', ends: 'message_end', between: [] },
    { role: 'assistant', ends: 'message_end', between: ['message_update'] },
  ]);
  for (const [start, ...rest] of messages(records)) {
    const whole = messageOf(rest.at(-1));
    if (whole.role !== 'assistant') expect(messageOf(start)).toEqual(whole);
    else expect(messageOf(start)).toMatchObject({ content: [], timestamp: whole['timestamp'], stopReason: 'stop' });
  }
  const { messages: kept } = await peer.ok({ type: 'get_messages' });
  expect(messages(records).map((list) => messageOf(list.at(-1)))).toEqual(kept);
});

verifies('M4 M7 M14 M15', 'each update has one step; the first is start, the last is done', async ({ open }) => {
  const { peer } = await open({ script: [rich, { text: 'done' }] });

  const records = await peer.run('go');

  for (const list of assistantMessagesIn(records)) {
    const steps = list.slice(1, -1).map(stepOf);
    expect(steps.map(({ type }) => type).filter((type) => type === 'start' || type === 'done')).toEqual([
      'start',
      'done',
    ]);
    expect([steps[0]?.type, steps.at(-1)?.type]).toEqual(['start', 'done']);
    const positions = list.map((record) => records.indexOf(record));
    expect(positions).toEqual(list.map((_, index) => (positions[0] ?? 0) + index));
  }
});

verifies('M8 M9 M10', 'blocks open, grow and close at their index', async ({ open }) => {
  const { peer } = await open({ script: [rich, { text: 'done' }] });

  const [list = []] = assistantMessagesIn(await peer.run('go'));

  const steps = list.slice(2, -2).map((record) => {
    const { partial: _, ...step } = stepOf(record);
    return step;
  });
  const blocks = [0, 1, 2, 3, 4].map((index) => steps.filter(({ contentIndex }) => contentIndex === index));
  const deltas = (index: number) => blocks[index]?.slice(1, -1) ?? [];
  const joined = (index: number) =>
    deltas(index)
      .map(({ delta }) => delta)
      .join('');
  expect(steps).toEqual(blocks.flat());
  expect(blocks.map(([first]) => first)).toEqual([
    { type: 'thinking_start', contentIndex: 0 },
    { type: 'text_start', contentIndex: 1 },
    { type: 'toolcall_start', contentIndex: 2, id: 'call_1', toolName: 'bash' },
    { type: 'text_start', contentIndex: 3 },
    { type: 'toolcall_start', contentIndex: 4, id: 'call_2', toolName: 'read' },
  ]);
  expect([0, 1, 2, 3, 4].map((index) => [...new Set(deltas(index).map(({ type }) => type))])).toEqual([
    ['thinking_delta'],
    ['text_delta'],
    ['toolcall_delta'],
    ['text_delta'],
    ['toolcall_delta'],
  ]);
  expect(blocks.map((block) => block.at(-1))).toEqual([
    { type: 'thinking_end', contentIndex: 0, content: joined(0) },
    { type: 'text_end', contentIndex: 1, content: joined(1) },
    {
      type: 'toolcall_end',
      contentIndex: 2,
      toolCall: { type: 'toolCall', id: 'call_1', name: 'bash', arguments: JSON.parse(joined(2)) },
    },
    { type: 'text_end', contentIndex: 3, content: joined(3) },
    {
      type: 'toolcall_end',
      contentIndex: 4,
      toolCall: { type: 'toolCall', id: 'call_2', name: 'read', arguments: JSON.parse(joined(4)) },
    },
  ]);
  expect([joined(0), joined(1), JSON.parse(joined(2))]).toEqual([
    'First I think. ',
    'Then I speak, at some length.',
    { command: 'echo hi' },
  ]);
});

const anyStep = fc.oneof(
  fc.record({ text: fc.string({ minLength: 1 }), chunks: fc.integer({ min: 1, max: 9 }) }),
  fc.record({ text: fc.string({ minLength: 1 }), times: fc.integer({ min: 1, max: 300 }) }),
  fc.record({ thinking: fc.lorem() }),
  fc.record({
    toolCall: fc.record({ name: fc.constant('nothing'), arguments: fc.dictionary(fc.lorem(), fc.lorem()) }),
  }),
  fc.record({ usage: fc.record({ input: fc.nat({ max: 99 }), output: fc.nat({ max: 99 }) }) }),
);

verifies('M5 M6 M13 M21', 'by default every update carries the message so far', async ({ open }) => {
  const answers = fc.sample(fc.array(anyStep, { minLength: 1, maxLength: 6 }), { numRuns: 15, seed: 5 });
  const { peer } = await open({
    script: answers.flatMap((steps) => [{ steps: [...steps, { text: 'So.' }] }, { text: 'Whatever.' }]),
  });

  for (const _ of answers) await peer.run('go');

  for (const [start, ...rest] of assistantMessagesIn(peer.records)) {
    const whole = messageOf(rest.at(-1));
    let content: Message['content'] = [];
    for (const update of rest.slice(0, -1)) {
      const step = stepOf(update);
      content = applyStep(content, step);
      if (step.type === 'done') {
        expect(step).toEqual({ type: 'done', reason: whole['stopReason'], message: whole });
        expect(update).toEqual({ type: 'message_update', assistantMessageEvent: step, message: whole });
      } else {
        expect(messageOf(update)).toEqual({ ...messageOf(start), content });
        expect(step['partial']).toEqual(messageOf(update));
      }
    }
    expect(content).toEqual(whole.content);
  }
  await waitUntilSettled(peer);
});

for (const [reason, steps] of Object.entries({
  stop: [{ text: 'x' }],
  length: [{ text: 'x' }, { stop: 'length' }],
  toolUse: [{ toolCall: { name: 'nothing' } }],
})) {
  verifies('M11 M13', `a complete assistant message ends with done and reason ${reason}`, async ({ open }) => {
    const { peer } = await open({ script: [{ steps }, { text: 'done' }] });

    const [list = []] = assistantMessagesIn(await peer.run('go'));

    const [last, end] = list.slice(-2);
    expect(last && stepOf(last)).toEqual({ type: 'done', reason, message: messageOf(end) });
    expect(messageOf(end)).toMatchObject({ stopReason: reason });
  });
}

verifies('M12 M13', 'a failed assistant message ends with an error step that carries the message', async ({ open }) => {
  const { peer } = await open({ settings: NO_RETRY, script: [{ steps: [{ text: 'half' }, { cut: true }] }] });

  const [list = []] = assistantMessagesIn(await peer.run('go'));

  const [last, end] = list.slice(-2);
  expect(last && stepOf(last)).toEqual({ type: 'error', reason: 'error', error: messageOf(end) });
  expect(messageOf(end)).toMatchObject({ stopReason: 'error', errorMessage: 'terminated' });
});

verifies('M12 M13', 'an aborted assistant message ends with an error step and reason aborted', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [{ text: 'half' }, { stall: true }] }] });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find((record) => record.type === 'message_update' && stepOf(record).type === 'text_delta');

  await peer.ok({ type: 'abort' });

  const list = assistantMessagesIn(peer.records)[0] ?? [];
  const [last, end] = list.slice(-2);
  expect(last && stepOf(last)).toEqual({ type: 'error', reason: 'aborted', error: messageOf(end) });
  expect(messageOf(end)).toMatchObject({ stopReason: 'aborted', content: [{ type: 'text', text: 'half' }] });
});

verifies('M3 M14', 'an empty assistant message has only its start and done steps', async ({ open }) => {
  const call = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
  const { peer } = await open({ script: [{ steps: [call] }, { steps: [] }] });

  const [, list = []] = assistantMessagesIn(await peer.run('go'));

  expect(list.slice(1, -1).map((record) => stepOf(record).type)).toEqual(['start', 'done']);
  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});
