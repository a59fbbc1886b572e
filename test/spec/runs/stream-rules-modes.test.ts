import { expect } from 'vitest';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { endedMessages, homeWithRules, toolCallStep, triggeredRules } from '../../support/agent/stream-rules.ts';
import { writeSettings } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

verifies('O23', 'with interruptMode never the message stays and a reminder follows it', async ({ open }) => {
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

verifies('O23 O24', 'with interruptMode never a tool call runs; the rule precedes its result', async ({ open }) => {
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
  verifies('O23', `with interruptMode ${interruptMode} only ${stops} are interrupted`, async ({ open }) => {
    const rules = { words: { condition: 'bad', scope: 'text' }, calls: { condition: 'bad', scope: 'tool' } };
    const home = homeWithRules(rules, { interruptMode });
    const script = [
      { text: 'bad' },
      { steps: [toolCallStep('bash', { command: 'echo bad' })] },
      { text: 'a' },
      { text: 'b' },
    ];
    const { peer } = await open({ home, script });

    const records = await peer.run('go');

    const interrupted = endedMessages(records).filter(({ stopReason }) => stopReason === 'aborted');
    expect(interrupted.map(({ errorMessage }) => errorMessage)).toEqual(
      stops.map((name) => `TTSR matched rule: ${name}`),
    );
    expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  });
}

verifies('O24', 'a rule matches once per session, also after the session is reopened', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const bad = { text: 'bad' };
  const first = await open({ home, script: [bad, bad, bad, bad] });
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  const matches = [await first.peer.run('one'), await first.peer.run('two')].map(triggeredRules);
  await first.peer.ok({ type: 'new_session' });
  matches.push(triggeredRules(await first.peer.run('three')));
  await first.close();

  const second = await open({ home, args: ['--session', sessionFile], script: [bad] });
  matches.push(triggeredRules(await second.peer.run('four')));

  expect(matches).toEqual([[['tidy']], [], [['tidy']], []]);
});

verifies('O24', 'with repeatMode after-gap a rule matches again after repeatGap messages', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { repeatMode: 'after-gap', repeatGap: 2 });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { repeat: true }] });

  const matches: string[][][] = [];
  for (const word of ['one', 'two', 'three', 'four']) matches.push(triggeredRules(await peer.run(word)));

  // The repeated model response counts as the first of the two.
  expect(matches).toEqual([[['tidy']], [], [['tidy']], []]);
});

verifies('O24', 'a rule that has matched does not match again after a compaction or in a clone', async ({ open }) => {
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
});
