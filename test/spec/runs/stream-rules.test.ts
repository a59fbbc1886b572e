import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rolesOf } from '../../support/agent/hooked-agent.ts';
import {
  endedMessages,
  homeWithRules,
  ruleText,
  toolCallStep,
  triggeredRules,
} from '../../support/agent/stream-rules.ts';
import { newHome, readSessionFile, scriptArgs } from '../../support/agent/test-agent.ts';
import { outline } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

verifies('O7 O20', 'a rule match interrupts the message, and the same run calls the model again', async ({ open }) => {
  const home = homeWithRules({ tidy: ruleText({ condition: 'bad\\w+', description: 'Be tidy' }, 'Never say that.') });
  const { peer } = await open({ home, script: [{ text: 'this is badly said' }, { text: 'this is well said' }] });

  const records = await peer.run('go');

  const prompt = ['message_start', 'message_end'];
  const begun = ['message_start', 'message_update:start', 'message_update:text_start', 'message_update:text_delta'];
  expect(outline(records)).toEqual([
    'response',
    'agent_start',
    'turn_start',
    ...prompt,
    ...begun,
    'ttsr_triggered',
    'message_update:text_end',
    'message_update:error',
    'message_end',
    'turn_end',
    'turn_start',
    ...prompt,
    ...begun,
    'message_update:text_end',
    'message_update:done',
    'message_end',
    'turn_end',
    'agent_end',
    'agent_settled',
  ]);
  expect(records.find(({ type }) => type === 'ttsr_triggered')).toEqual({
    type: 'ttsr_triggered',
    rules: [
      {
        name: 'tidy',
        path: join(home.agentDir, 'rules', 'tidy.md'),
        content: 'Never say that.',
        description: 'Be tidy',
        condition: ['bad\\w+'],
        scope: ['text', 'tool'],
      },
    ],
  });
  const [, interrupted, injected, whole] = endedMessages(records);
  expect(interrupted).toMatchObject({
    stopReason: 'aborted',
    errorMessage: 'TTSR matched rule: tidy',
    content: [{ text: 'this is badly ' }],
  });
  expect(injected).toMatchObject({
    role: 'custom',
    customType: 'ttsr-injection',
    display: false,
    details: { rules: ['tidy'] },
    content: expect.stringMatching(
      /^<system-interrupt reason="rule_violation" rule="tidy">.*Never say that\.\n<\/system-interrupt>$/s,
    ),
  });
  expect(whole).toMatchObject({ stopReason: 'stop', content: [{ text: 'this is well said' }] });
  expect(records.at(-1)).toMatchObject({ outcome: 'ok', aborted: false });
});

verifies('O21', 'an interrupted message stays in the file but not in the conversation', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const script = [{ text: 'bad', usage: undefined }, { text: 'good' }].map(({ text }) => ({
    steps: [{ text }, { usage: { input: 100, output: 7 } }],
  }));
  const first = await open({ home, script });
  const records = await first.peer.run('go');
  const { messages } = await first.peer.ok({ type: 'get_messages' });
  const stats = await first.peer.ok({ type: 'get_session_stats' });
  const { sessionFile, messageCount } = await first.peer.ok({ type: 'get_state' });
  const page = await first.peer.ok({ type: 'get_messages_page' });
  await first.close();

  const second = await open({ home, args: ['--session', sessionFile], script: [{ text: 'more' }] });
  const resumed = await second.peer.ok({ type: 'get_messages' });

  expect(rolesOf(messages)).toEqual(['user', 'custom', 'assistant']);
  expect(messages.at(-1)).toMatchObject({ content: [{ text: 'good' }] });
  expect(page.messages).toEqual(messages);
  expect(messageCount).toBe(3);
  expect(resumed.messages).toEqual(messages);
  expect(stats).toMatchObject({ assistantMessages: 2, userMessages: 1 });
  expect(await second.peer.ok({ type: 'get_session_stats' })).toMatchObject({ assistantMessages: 2 });
  expect(endedMessages(records)[1]).toMatchObject({ content: [{ text: 'bad' }] });
  expect(readSessionFile(sessionFile).map(({ type, message }) => message?.role ?? type)).toEqual([
    'session',
    'model_change',
    'thinking_level_change',
    'user',
    'assistant',
    'context_edit',
    'custom_message',
    'assistant',
  ]);
});

verifies('O21', 'with contextMode keep the interrupted message stays and is quoted to the model', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } }, { contextMode: 'keep' });
  const { peer } = await open({ home, script: [{ text: 'half a bad thing' }, { text: 'good' }] });

  await peer.run('go');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'assistant', 'custom', 'assistant']);
  expect(messages[1]).toMatchObject({ stopReason: 'aborted', content: [{ text: 'half a bad ' }] });
  expect(messages[2].content).toContain('<said>\nhalf a bad \n</said>');
});

verifies('O22', 'thinking is watched only where the scope of a rule includes it', async ({ open }) => {
  const home = homeWithRules({
    thoughts: { condition: 'secret', scope: 'thinking' },
    words: { condition: 'secret' },
  });
  const secret = { steps: [{ thinking: 'a secret' }, { text: 'a secret' }] };
  const { peer } = await open({ home, script: [secret, secret, { text: 'fine' }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([['thoughts'], ['words']]);
  expect(endedMessages(records)[1]?.['content']).toEqual([{ type: 'thinking', thinking: 'a secret' }]);
});

verifies('O22 O21', 'a tool call is watched while its arguments stream and never runs on a match', async ({ open }) => {
  const home = homeWithRules({ safe: { condition: 'rm "-rf"\n', scope: 'bash' } });
  const steps = [{ text: 'Now: ' }, toolCallStep('bash', { command: 'touch proof; rm "-rf"\n x' }, { chunks: 20 })];
  const { peer } = await open({ home, script: [{ steps }, { text: 'better not' }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([['safe']]);
  expect(outline(records)).not.toContain('tool_execution_start');
  expect(existsSync(join(home.cwd, 'proof'))).toBe(false);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'custom', 'assistant']);
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
});

verifies('O22', 'globs and paths in the scope exclude other files', async ({ open }) => {
  const home = homeWithRules({
    code: { condition: 'XX', globs: ['src/**/*.ts'] },
    text: { condition: 'XX', scope: 'write(*.md)' },
  });
  const write = (path: string) => ({ steps: [toolCallStep('write', { path, content: 'XX' }, { chunks: 9 })] });
  const paths = ['a.ts', 'src/a.js', 'src/deep/a.ts', join(home.cwd, 'notes.md'), 'b.txt'];
  const { peer } = await open({ home, script: [...paths.map(write), { text: 'done' }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([['code'], ['text']]);
  const written = ['a.ts', 'src/a.js', 'src/deep/a.ts', 'notes.md', 'b.txt'];
  expect(written.map((path) => existsSync(join(home.cwd, path)))).toEqual([true, true, false, false, true]);
});

verifies('O22 O20', 'a call whose path comes last is interrupted when its arguments are complete', async ({ open }) => {
  const home = homeWithRules({ code: { condition: 'XX', globs: '*.ts' } });
  const edits = [{ oldText: 'a', newText: 'XX' }];
  const script = [
    { steps: [toolCallStep('edit', { edits, path: 'a.ts' })] },
    { steps: [toolCallStep('edit', { edits, path: 'a.js' })] },
    { text: 'done' },
  ];
  const { peer } = await open({ home, script });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([['code']]);
  const [, interrupted, injected, called, result] = endedMessages(records);
  expect(interrupted).toMatchObject({ stopReason: 'aborted', errorMessage: 'TTSR matched rule: code' });
  expect(injected).toMatchObject({ role: 'custom' });
  expect(called).toMatchObject({ stopReason: 'toolUse' });
  expect(result).toMatchObject({ role: 'toolResult' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(rolesOf(messages)).toEqual(['user', 'custom', 'assistant', 'toolResult', 'assistant']);
});

verifies('O20', 'rules that match together are published in one event', async ({ open }) => {
  const home = homeWithRules({ b: { condition: 'bad' }, a: { condition: '/BAD/i' }, c: { condition: 'worse' } });
  const { peer } = await open({ home, script: [{ text: 'bad' }, { text: 'good' }] });

  const records = await peer.run('go');

  expect(triggeredRules(records)).toEqual([['a', 'b']]);
  expect(endedMessages(records)[1]).toMatchObject({ errorMessage: 'TTSR matched rules: a, b' });
  expect(endedMessages(records)[2]).toMatchObject({ details: { rules: ['a', 'b'] } });
});

verifies('O21', 'an export shows the interrupted message and the rule match', async ({ open }) => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const { peer } = await open({ home, script: [{ text: 'so bad' }, { text: 'good' }] });
  await peer.run('go');

  const { path } = await peer.ok({ type: 'export_html', outputPath: join(newHome().root, 'page.html') });

  const page = readFileSync(path, 'utf8');
  for (const part of ['so bad', 'TTSR matched rule: tidy', '"context_edit"', 'ttsr-injection']) {
    expect(page).toContain(part);
  }
});

it('[O20] rules apply in the published library', () => {
  const home = homeWithRules({ tidy: { condition: 'bad' } });
  const [, script] = scriptArgs(home, [{ text: 'so bad' }, { text: 'good' }]);
  const options = { cwd: home.cwd, agentDir: home.agentDir, script };
  const program = `
    import { openAgent } from ${JSON.stringify(new URL('../../../dist/index.js', import.meta.url).href)};
    const { client, close } = await openAgent(${JSON.stringify(options)});
    const { messages } = await client.promptAndWait('go');
    console.log(JSON.stringify(messages.map(({ role, stopReason }) => stopReason ?? role)));
    await close();`;

  const printed = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });

  expect(JSON.parse(printed)).toEqual(['user', 'aborted', 'custom', 'stop']);
});
