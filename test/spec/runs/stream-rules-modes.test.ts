import { expect } from 'vitest';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { writeSettings } from '../../support/agent/test-agent.ts';
import { toolCallStep, endedMessages, homeWithRules, triggeredRules } from '../../support/agent/stream-rules.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { verifies } from '../../support/verifies.ts';

verifies('O23', 'with never, what was said stays and the model is told afterwards', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { interruptMode: 'never' });
  const { peer } = await open({ home, script: [{ text: 'a bad word' }, { text: 'a good word' }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([]);
  expect(assistantTexts(records)).toEqual(['a bad word', 'a good word']);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant']);
  expect(messages[2]).toMatchObject({ customType: 'ttsr-injection', display: false, details: { rules: ['tidy'] } });
  expect(records.filter(({ type }) => type === 'agent_end')).toHaveLength(1);
});

verifies('O23 O24', 'with never, a call runs and the rule stands before its result, once', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'echo', interruptMode: 'never' } });
  const echo = { steps: [toolCallStep('bash', { command: 'echo hi' })] };
  const first = await open({ home, script: [echo, echo, { text: 'done' }] });
  const records = await first.peer.run('go');
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  await first.close();

  const second = await open({ home, args: ['--session', sessionFile], script: [echo, { text: 'done' }] });
  const later = await second.peer.run('again');

  expect(triggeredRules(records)).toEqual([['tidy']]);
  const results = endedMessages(records).filter(({ role }) => (role as string) === 'toolResult');
  expect(results[0]?.['content']).toEqual([
    { type: 'text', text: expect.stringMatching(/^<system-reminder reason="rule_violation" rule="tidy">/) },
    { type: 'text', text: 'hi\n' },
  ]);
  expect(results[1]?.['content']).toEqual([{ type: 'text', text: 'hi\n' }]);
  expect(triggeredRules(later)).toEqual([]);
});

for (const [interruptMode, stops] of [
  ['prose-only', ['words']],
  ['tool-only', ['calls']],
] as const) {
  verifies('O23', `with ${interruptMode} only ${stops} are stopped`, async ({ open }) => {
    const rules = { words: { condition: 'bad', scope: 'text' }, calls: { condition: 'bad', scope: 'tool' } };
    const home = homeWithRules(rules, { interruptMode });
    const script = [{ text: 'bad' }, { steps: [toolCallStep('bash', { command: 'echo bad' })] }, { text: 'a' }, { text: 'b' }];
    const { peer } = await open({ home, script });

    const records = await peer.run('go');

    const broken = endedMessages(records).filter(({ stopReason }) => stopReason === 'aborted');
    expect(broken.map(({ errorMessage }) => errorMessage)).toEqual(stops.map((name) => `TTSR matched rule: ${name}`));
    expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  });
}

verifies('O24', 'a rule matches once in a session, also when that is opened again', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const bad = { text: 'bad' };
  const first = await open({ home, script: [bad, bad, bad, bad] });
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  const told = [await first.peer.run('one'), await first.peer.run('two')].map(triggeredRules);
  await first.peer.ok({ type: 'new_session' });
  told.push(triggeredRules(await first.peer.run('three')));
  await first.close();

  const second = await open({ home, args: ['--session', sessionFile], script: [bad] });
  told.push(triggeredRules(await second.peer.run('four')));

  expect(told).toEqual([[['tidy']], [], [['tidy']], []]);
});

verifies('O24', 'with after-gap a rule matches again after so many answers', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { repeatMode: 'after-gap', repeatGap: 2 });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { repeat: true }] });

  const told: string[][][] = [];
  for (const word of ['one', 'two', 'three', 'four']) told.push(triggeredRules(await peer.run(word)));

  // The answer that is asked for again is the first of the two.
  expect(told).toEqual([[['tidy']], [], [['tidy']], []]);
});

verifies(
  'O24',
  'a rule that has matched stays silent after a compaction, and in a copy of the session',
  async ({ open }) => {
    const home = homeWithRules({ tidy: { condition: 'bad' } });
    writeSettings(home, { compaction: { enabled: false, keepRecentTokens: 1 } });
    const { peer } = await open({ home, script: [{ text: 'bad' }, { repeat: true }] });
    await peer.run('one');
    await peer.run('two');

    await peer.ok({ type: 'compact' });
    const compacted = await peer.run('three');
    await peer.ok({ type: 'clone' });
    const copied = await peer.run('four');

    expect([compacted, copied].map(triggeredRules)).toEqual([[], []]);
    expect(assistantTexts([...compacted, ...copied])).toEqual(['bad', 'bad']);
  },
);
