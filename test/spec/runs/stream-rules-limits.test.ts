import { join } from 'node:path';
import { expect } from 'vitest';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import { assistantTexts } from '../../support/agent/run-records.ts';
import {
  homeWithRules,
  type Message,
  ruleText,
  toolCallStep,
  triggeredRules,
  writeRules,
} from '../../support/agent/stream-rules.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

verifies('O25', 'a rule interrupts at most ten model responses per run', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { repeatMode: 'after-gap', repeatGap: 0 });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { repeat: true }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toHaveLength(10);
  expect(assistantTexts(records)).toHaveLength(11);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(triggeredRules(await peer.run('again'))).toHaveLength(10);
});

verifies('O25', 'a rule with interruptMode never adds at most ten reminders per run', async ({ open }) => {
  const ttsr = { repeatMode: 'after-gap', repeatGap: 0, interruptMode: 'never' };
  const { peer } = await open({
    home: homeWithRules({ tidy: { condition: 'bad' } }, ttsr),
    script: [{ text: 'bad' }, { repeat: true }],
  });

  expect(assistantTexts(await peer.run('go'))).toHaveLength(11);
});

verifies('O25', 'an abort during the repeated model call ends the run', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { steps: [{ text: 'well' }, { stall: true }] }] });
  peer.send({ type: 'prompt', message: 'go' });
  await peer.next('ttsr_triggered');
  await peer.next(({ type, message }) => type === 'message_end' && (message as Message)['role'] !== 'assistant');
  await peer.next(({ type }) => type === 'message_update');

  await peer.ok({ type: 'abort' });

  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted', aborted: true });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'custom', 'assistant']);
  expect(messages.at(-1)).toMatchObject({ stopReason: 'aborted', errorMessage: 'Request was aborted' });
});

verifies('O25', 'a retry that is followed by a rule match counts as successful', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const script = [{ error: { status: 529, retryAfterMs: 1 } }, { text: 'bad' }, { text: 'good' }];
  const { peer } = await open({ home, script, settings: { retry: { baseDelayMs: 1 } } });

  const records = await peer.run('go');

  expect(records.filter(({ type }) => type === 'auto_retry_end')).toEqual([
    { type: 'auto_retry_end', success: true, attempt: 1 },
  ]);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('O25', 'interrupted model responses count against the limits of a prompt', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { text: 'good' }] });

  const records = await peer.run({ message: 'go', limits: { turns: 1 } });

  expect(records.at(-1)).toMatchObject({ outcome: 'budget' });
  expect(rolesOf((await peer.ok({ type: 'get_messages' })).messages)).toEqual(['user', 'custom']);
});

verifies(
  'O26',
  'invalid rule files are reported, and the other rules apply',
  async ({ open }) => {
    const home = homeWithRules({
      bad: '---\ncondition: [\n---\nx',
      wild: { condition: '(' },
      good: { condition: 'bad' },
    });
    const { peer, process } = await open({ home, script: [{ text: 'bad' }, { text: 'good' }] });

    expect(triggeredRules(await peer.run('go'))).toEqual([['good']]);

    const warnings = process?.stderr().trim().split('\n') ?? [];
    expect(warnings).toEqual([
      expect.stringContaining(join(home.agentDir, 'rules', 'bad.md')),
      `tau: ${join(home.agentDir, 'rules', 'wild.md')}: the condition ( is no regular expression; the rule is left out`,
    ]);
  },
  ['stdio', 'unix'],
);

verifies(
  'O26',
  'a condition that takes too long is dropped',
  async ({ open }) => {
    const home = homeWithRules({ endless: { condition: '(a+)+$' }, good: { condition: 'bad' } });
    const { peer, process } = await open({ home, script: [{ text: `${'a'.repeat(200)}b bad` }, { text: 'good' }] });

    const records = await peer.run('go');

    expect(triggeredRules(records)).toEqual([['good']]);
    expect(process?.stderr()).toMatch(/endless\.md: the condition \(a\+\)\+\$ takes too long and is given up\n$/);
  },
  ['stdio'],
);

verifies('O26', 'no rule applies while rules are turned off', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { enabled: false });
  const { peer } = await open({ home, script: [{ text: 'bad' }] });

  expect(triggeredRules(await peer.run('go'))).toEqual([]);
});

verifies('O26', 'project rules apply while the project is trusted, and override user rules', async ({ open }) => {
  const home = homeWithRules({ tidy: ruleText({ condition: 'bad' }, 'The user says so.') });
  writeRules(join(home.cwd, '.pi', 'rules'), { tidy: ruleText({ condition: 'good' }, 'The project says so.') });
  const { peer } = await open({ home, script: [{ text: 'bad good' }, { text: 'x' }, { repeat: true }] });
  const texts = async (word: string, trusted: boolean) => {
    await peer.ok({ type: 'new_session' });
    await peer.ok({ type: 'set_trust', trusted, remember: false });
    return (await peer.run(word))
      .filter(({ type }) => type === 'ttsr_triggered')
      .map(({ rules }) => (rules as { content: string }[])[0]?.content);
  };

  expect(await texts('one', false)).toEqual(['The user says so.']);
  expect(await texts('two', true)).toEqual(['The project says so.']);
  expect(await texts('three', false)).toEqual(['The user says so.']);
});

verifies(
  'O21 J18',
  'a session killed during the repeated model call reopens unchanged and continues',
  async ({ open }) => {
    const home = homeWithRules({ tidy: { condition: 'bad' } });
    const gate = newGate();
    const steps = [{ text: 'Look ' }, toolCallStep('bash', { command: 'echo bad' })];
    const first = await open({ home, script: [{ steps }, { steps: [{ await: gate.path }] }] });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    first.peer.send({ type: 'prompt', message: 'go', clientMessageId: 'c1' });
    await first.peer.next('ttsr_triggered');
    await first.peer.next(({ type, message }) => type === 'message_end' && (message as Message)['role'] === 'custom');
    const { messages } = await first.peer.ok({ type: 'get_messages' });
    first.process?.kill('SIGKILL');
    await first.process?.exited;

    const second = await open({ home, args: ['--session', sessionFile], script: [{ text: 'bad, but known' }] });
    const resumed = await second.peer.ok({ type: 'get_messages' });
    const accepted = await second.peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1' });
    await second.peer.next('agent_settled');

    expect(rolesOf(messages)).toEqual(['user', 'custom']);
    expect(resumed.messages).toEqual(messages);
    expect(accepted).toMatchObject({ disposition: 'started', duplicate: true });
    expect(triggeredRules(second.peer.records)).toEqual([]);
    expect(outline(second.peer.records)).not.toContain('session_repaired');
  },
  ['stdio'],
);

verifies(
  'O21 J18',
  'a session killed at a rule match continues without an open tool call',
  async ({ open }) => {
    const home = homeWithRules({ tidy: { condition: 'bad' } });
    const steps = [{ text: 'Look ' }, toolCallStep('bash', { command: 'echo bad' })];
    const first = await open({ home, script: [{ steps }, { stall: true }] });
    const { sessionFile } = await first.peer.ok({ type: 'get_state' });
    first.peer.send({ type: 'prompt', message: 'go' });
    await first.peer.next('ttsr_triggered');
    first.process?.kill('SIGKILL');
    await first.process?.exited;

    const second = await open({ home, args: ['--session', sessionFile], script: [{ text: 'well' }] });
    const records = await second.peer.run('again');

    expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
    const { messages } = await second.peer.ok({ type: 'get_messages' });
    expect(rolesOf(messages)).not.toContain('toolResult');
  },
  ['stdio'],
);

verifies('O26', 'rules added during a model response apply from the next one on', async ({ open }) => {
  const home = homeWithRules({ user: { condition: 'never said' } });
  writeRules(join(home.cwd, '.pi', 'rules'), { late: { condition: 'bad' } });
  const gate = newGate();
  const steps = [{ text: 'one ' }, { await: gate.path }, { text: 'bad' }, toolCallStep('bash', { command: 'echo' })];
  const { peer } = await open({ home, script: [{ steps }, { text: 'bad' }, { text: 'good' }] });
  peer.send({ type: 'prompt', message: 'go' });
  await peer.next(({ type }) => type === 'message_update');

  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  gate.open();
  await peer.next('agent_settled');

  expect(triggeredRules(peer.records)).toEqual([['late']]);
  expect(assistantTexts(peer.records)).toEqual(['one bad', 'bad', 'good']);
});
