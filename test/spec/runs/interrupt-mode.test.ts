import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { assistantTexts, userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const bash = (id: string, command: string) => ({ toolCall: { name: 'bash', id, arguments: { command } } });
const write = (id: string) => ({ toolCall: { name: 'write', id, arguments: { path: `${id}.txt`, content: id } } });
const waitFor = (path: string) => `while [ ! -e ${path} ]; do sleep 0.05; done`;

const SKIPPED = 'Skipped due to queued user message.';

/** The tool events of a run without updates. */
const toolEvents = (peer: Peer) =>
  peer.records.flatMap((record) => {
    if (!/^tool_execution_(start|end)$/.test(record.type)) return [];
    return [`${record.type.slice(15)} ${record['toolCallId']}${record['isError'] ? ' failed' : ''}`];
  });

const resultsOf = (turn: WireRecord) =>
  (turn['toolResults'] as { toolCallId: string; isError: boolean; content: { text: string }[] }[]).map(
    ({ toolCallId, isError, content }) => [toolCallId, isError, content[0]?.text],
  );

const isStart = (id: string) => (record: WireRecord) =>
  record.type === 'tool_execution_start' && record['toolCallId'] === id;

verifies('Q10 Q11 Q16', 'by default every tool of the turn finishes before steering is delivered', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [bash('a', waitFor(gate.path)), bash('b', `${waitFor(gate.path)}; echo b`)] }, { text: 'heard' }],
  });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ interruptMode: 'wait' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isStart('b'));

  await peer.ok({ type: 'steer', message: 'stop that' });
  gate.open();

  await waitUntilSettled(peer);
  expect(resultsOf(await peer.find('turn_end'))).toEqual([
    ['a', false, '(no output)'],
    ['b', false, 'b\n'],
  ]);
  expect(userTexts(peer.records)).toEqual(['work', 'stop that']);
  expect(assistantTexts(peer.records)).toEqual(['', 'heard']);
  const order = peer.records.map(({ type }) => type);
  expect(order.indexOf('turn_end')).toBeLessThan(order.lastIndexOf('queue_update'));
});

verifies('Q12', 'by default the tools of a turn run in parallel', async ({ open }) => {
  const made = newGate();
  const { peer } = await open({
    script: [{ steps: [bash('a', waitFor(made.path)), bash('b', `touch ${made.path}`)] }, { text: 'both' }],
  });

  const records = await peer.run('work');

  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(toolEvents(peer).slice(0, 2)).toEqual(['start a', 'start b']);
});

verifies('Q9 Q13 Q14 Q15 Q16', 'in mode immediate steering skips tools that have not started', async ({ open }) => {
  const gate = newGate();
  const { peer, home } = await open({
    script: [{ steps: [bash('a', `${waitFor(gate.path)}; echo a`), write('b'), write('c')] }, { text: 'heard' }],
  });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isStart('a'));

  await peer.ok({ type: 'steer', message: 'stop that' });
  gate.open();

  await waitUntilSettled(peer);
  expect(toolEvents(peer)).toEqual(['start a', 'end a', 'start b', 'end b failed', 'start c', 'end c failed']);
  expect(resultsOf(await peer.find('turn_end'))).toEqual([
    ['a', false, 'a\n'],
    ['b', true, SKIPPED],
    ['c', true, SKIPPED],
  ]);
  expect(existsSync(join(home.cwd, 'b.txt')) || existsSync(join(home.cwd, 'c.txt'))).toBe(false);
  const skipped = peer.records.filter(({ type, toolCallId }) => type === 'tool_execution_end' && toolCallId !== 'a');
  expect(skipped).toMatchObject([
    { toolName: 'write', result: { content: [{ type: 'text', text: SKIPPED }] } },
    { toolName: 'write', result: { content: [{ type: 'text', text: SKIPPED }] } },
  ]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.map(({ role }: { role: string }) => role)).toEqual([
    'user',
    'assistant',
    'toolResult',
    'toolResult',
    'toolResult',
    'user',
    'assistant',
  ]);
  expect(assistantTexts(peer.records)).toEqual(['', 'heard']);
});

verifies('Q13 Q14', 'in mode immediate a steer during the second of three tools skips the third', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [write('a'), bash('b', waitFor(gate.path)), write('c')] }, { text: 'heard' }],
  });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isStart('b'));

  await peer.ok({ type: 'steer', message: 'stop that' });
  gate.open();

  await waitUntilSettled(peer);
  expect(toolEvents(peer)).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c failed']);
});

verifies('Q13', 'in mode immediate tool calls run in sequence, and all run without steering', async ({ open }) => {
  const { peer } = await open({ script: [{ steps: [write('a'), write('b'), write('c')] }, { text: 'done' }] });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });

  await peer.run('work');

  expect(toolEvents(peer)).toEqual(['start a', 'end a', 'start b', 'end b', 'start c', 'end c']);
});

verifies('Q14', 'in mode immediate a follow-up skips nothing', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [bash('a', waitFor(gate.path)), write('b')] }, { text: 'done' }, { text: 'followed' }],
  });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isStart('a'));

  await peer.ok({ type: 'follow_up', message: 'and then?' });
  gate.open();

  await waitUntilSettled(peer);
  expect(toolEvents(peer)).toEqual(['start a', 'end a', 'start b', 'end b']);
  expect(assistantTexts(peer.records)).toEqual(['', 'done', 'followed']);
});

verifies('Q14', 'in mode immediate a removed steering message skips no tool call', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({
    script: [{ steps: [bash('a', waitFor(gate.path)), write('b')] }, { text: 'done' }],
  });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(isStart('a'));
  const { queueId } = await peer.ok({ type: 'steer', message: 'stop that' });

  await peer.ok({ type: 'remove_queued', queueId });
  gate.open();

  await waitUntilSettled(peer);
  expect(toolEvents(peer)).toEqual(['start a', 'end a', 'start b', 'end b']);
  expect(userTexts(peer.records)).toEqual(['work']);
});

verifies('Q9', 'set_interrupt_mode switches in both directions', async ({ open }) => {
  const { peer } = await open();

  await peer.ok({ type: 'set_interrupt_mode', mode: 'immediate' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ interruptMode: 'immediate' });
  await peer.ok({ type: 'set_interrupt_mode', mode: 'wait' });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ interruptMode: 'wait' });
});
