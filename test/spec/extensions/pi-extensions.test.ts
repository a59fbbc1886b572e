import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { FILLER, fastRetryHome, textWithUsage } from '../../support/agent/compaction.ts';
import { allUiRequests, answerDialog, bash, callTool, fixture, nextUiRequest } from '../../support/agent/extensions.ts';
import { newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { verifies } from '../../support/verifies.ts';

const extensionArgs = (name: string) => ['-e', fixture(name)];

verifies('X45', 'tool_call: a gate changes arguments, opens a dialog and blocks', async ({ open }) => {
  const { peer, home } = await open({
    args: extensionArgs('tool-call-gate'),
    script: [bash('noisy echo plain'), bash('rm precious'), bash('rm precious'), { text: 'done' }],
  });
  writeFileSync(join(home.cwd, 'precious'), '');
  await peer.ok({ type: 'prompt', message: 'go' });

  expect(await answerDialog(peer, 'confirm', { confirmed: false })).toMatchObject({
    title: 'Dangerous',
    message: 'rm precious',
  });
  await answerDialog(peer, 'confirm', { confirmed: true });
  await peer.next('agent_settled');

  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages.filter(({ role }: { role: string }) => role === 'toolResult')).toMatchObject([
    { isError: false, content: [{ text: 'plain\n' }] },
    { isError: true, content: [{ text: 'Not allowed' }] },
    { isError: false },
  ]);
  expect(existsSync(join(home.cwd, 'precious'))).toBe(false);
});

verifies('X45', 'tool_result: handlers rewrite the result one after another', async ({ open }) => {
  const { peer } = await open({
    args: extensionArgs('tool-result-rewrite'),
    script: [bash("printf 'the password is hunter%d\\n' 2"), { text: 'done' }],
  });
  await peer.run('go');

  expect(await peer.find('tool_execution_end')).toMatchObject({
    isError: true,
    result: { content: [{ text: 'the password is [hidden]\n' }], details: { hidden: true } },
  });
  expect(JSON.stringify(await peer.ok({ type: 'get_messages' }))).not.toContain('hunter2');
});

verifies('X45', 'input: a handler transforms or handles a prompt first', async ({ open }) => {
  const { peer } = await open({ args: extensionArgs('input-transform') });

  const handled = await peer.ok({ type: 'prompt', message: 'ping' });
  await nextUiRequest(peer, 'notify');
  await peer.run('?why');

  expect(handled).toEqual({ disposition: 'handled' });
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0]).toMatchObject({ role: 'user', content: [{ text: 'Answer briefly: why' }] });
});

verifies(
  'X45',
  'context: a handler changes what the model gets, not what is stored',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const home = newHome();
    const { peer } = await open({
      home,
      args: [...extensionArgs('context-rewrite'), ...extensionArgs('provider'), '--model', 'acme/acme-large'],
      env: { ACME_URL: double.url, ACME_KEY: 'secret' },
    });
    double.respondWith({ text: 'one' }, { text: 'two' });
    await peer.run('the first classified thing');
    await peer.run('the second classified thing');

    const [, second] = double.requests;
    expect(JSON.stringify(second?.body)).not.toContain('classified');
    expect(JSON.stringify(second?.body)).not.toContain('the first');
    expect(JSON.stringify(await peer.ok({ type: 'get_messages' }))).toContain('the first classified thing');
  },
  ['stdio', 'unix'],
);

verifies(
  'X45',
  'before_agent_start: a handler adds a message and a system prompt to one run',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { peer } = await open({
      args: [...extensionArgs('before-agent-start'), ...extensionArgs('provider'), '--model', 'acme/acme-large'],
      env: { ACME_URL: double.url, ACME_KEY: 'secret' },
    });
    double.respondWith({ text: 'arr' });

    const records = await peer.run('parrots');

    expect(JSON.stringify(double.requests[0]?.body)).toContain('Speak like a pirate.');
    expect(records).toContainEqual(
      expect.objectContaining({
        type: 'message_end',
        message: expect.objectContaining({ role: 'custom', customType: 'note', content: 'About: parrots' }),
      }),
    );
    expect(records.filter(({ type }) => type === 'extension_error')).toEqual([]);
  },
  ['stdio', 'unix'],
);

verifies('X45', 'session_before_compact: an extension writes the summary or cancels', async ({ open }) => {
  const { peer, sessionFiles } = await open({
    home: fastRetryHome(),
    args: extensionArgs('custom-compaction'),
    script: [textWithUsage('one', 100), textWithUsage('two', 200)],
  });
  await peer.run(`first ${FILLER}`);
  await peer.run(`second ${FILLER}`);

  const rejection = await peer.refused({ type: 'compact', customInstructions: 'cancel' });
  const result = await peer.ok({ type: 'compact' });

  expect(rejection['error']).toContain('cancel');
  expect(result).toMatchObject({ summary: 'Everything went well.', tokensBefore: 210, details: { by: 'extension' } });
  const notices = allUiRequests(peer, 'notify').map(({ message }) => message);
  expect(notices).toEqual([expect.stringMatching(/^compacting \d+ entries, manual$/), 'compacted true']);
  expect(readSessionFile(sessionFiles()[0] ?? '').at(-1)).toMatchObject({
    type: 'compaction',
    summary: 'Everything went well.',
  });
});

verifies(
  'X45',
  'a provider of an extension is listed, selected and called',
  async ({ open }) => {
    const double = await ProviderDouble.start(completions);
    const { peer } = await open({
      args: extensionArgs('provider'),
      env: { ACME_URL: double.url, ACME_KEY: 'a-secret-key' },
    });
    double.respondWith({ text: 'from acme' });
    await peer.ok({ type: 'get_commands' });

    const { models } = await peer.ok({ type: 'get_available_models' });
    await peer.ok({ type: 'set_model', provider: 'acme', modelId: 'acme-large' });
    await peer.run('hello');

    expect(models).toMatchObject([{ provider: 'acme', id: 'acme-large', contextWindow: 32_000 }]);
    expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'from acme' });
    expect(double.requests[0]?.body).toMatchObject({ model: 'acme-large', user: 'extension' });
    expect(JSON.stringify(double.requests[0]?.headers)).toContain('a-secret-key');
  },
  ['stdio', 'unix'],
);

verifies('S3 S8 S16 S19', 'an extension can cancel every session change', async ({ open, transport }) => {
  const { peer, sessionFiles } = await open({ args: extensionArgs('session-cancel'), script: [{ text: 'one' }] });
  await peer.run('hello');
  const { messages } = await peer.ok({ type: 'get_fork_messages' });
  const { entryId } = messages[0];
  const [path] = sessionFiles();
  const moves = [
    { type: 'new_session' },
    { type: 'switch_session', sessionPath: path },
    { type: 'fork', entryId },
    { type: 'clone' },
  ];

  const before = await peer.ok({ type: 'get_state' });
  const cancelled = [];
  for (const move of moves) cancelled.push(await peer.ok(move));
  const after = await peer.ok({ type: 'get_state' });
  const files = sessionFiles();
  await peer.ok({ type: 'prompt', message: '/unlock' });
  const fresh = await peer.ok({ type: 'new_session' });

  expect(cancelled).toEqual([
    { cancelled: true },
    { cancelled: true },
    { cancelled: true, text: 'hello' },
    { cancelled: true },
  ]);
  expect(after).toEqual(before);
  expect(files).toEqual([path]);
  expect(fresh).toMatchObject({ cancelled: false });
  // Behind a server the client moves without the agent, so that no other session starts.
  if (transport === 'websocket') return;
  expect(allUiRequests(peer, 'setStatus').at(-1)).toMatchObject({
    statusText: [
      'session_start startup',
      'session_before_switch new',
      'session_before_switch resume',
      'session_before_fork before',
      'session_before_fork at',
      'session_before_switch new',
      'session_shutdown new',
      'session_start new',
    ].join(', '),
  });
});

verifies('P15 P16 N2 X2 X3 X23 X25 X27 X29 X40', 'a command opens one dialog after another', async ({ open }) => {
  const { peer } = await open({ args: extensionArgs('dialogs') });
  const prompt = peer.request({ type: 'prompt', message: '/interview  about you' });

  const requests = [
    await answerDialog(peer, 'select', { value: 'green' }),
    await answerDialog(peer, 'confirm', { confirmed: true }),
    await answerDialog(peer, 'input', { value: 'Ada' }),
    await answerDialog(peer, 'editor', { value: 'new\ntext' }),
  ];
  expect(requests).toMatchObject([
    { title: 'Colour?', options: ['red', 'green'] },
    { message: 'You said green' },
    { placeholder: 'somebody' },
    { prefill: 'old' },
  ]);
  expect(new Set(requests.map(({ id }) => id)).size).toBe(4);

  const collected = { args: ' about you', colour: 'green', sure: true, name: 'Ada', text: 'new\ntext' };
  expect(JSON.parse((await nextUiRequest(peer, 'notify')).message)).toEqual(collected);
  expect(await prompt).toMatchObject({ success: true, data: { disposition: 'handled' } });
  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ messageCount: 0, pendingUi: [] });
});

verifies('X45', 'custom entries restore the state of an extension on resume', async ({ open }) => {
  const home = newHome();
  const first = await open({
    home,
    args: extensionArgs('custom-entries'),
    script: [callTool('counter', { by: 'ten' }), callTool('counter', { by: 'one' }), { text: 'eleven' }],
  });
  await first.peer.run('count');
  expect(await first.peer.find('tool_execution_update')).toMatchObject({
    partialResult: { content: [{ text: 'counting' }] },
  });
  await first.close();

  const second = await open({
    home,
    args: [...extensionArgs('custom-entries'), '--session', first.sessionFiles()[0] ?? ''],
    script: [callTool('counter', { by: 'one' }), { text: 'on' }],
  });
  expect(await nextUiRequest(second.peer, 'setStatus')).toMatchObject({ statusKey: 'counter', statusText: '11' });
  await second.peer.run('go on');

  const { messages } = await second.peer.ok({ type: 'get_messages' });
  expect(messages.at(-2)).toMatchObject({
    role: 'toolResult',
    content: [{ text: 'The count is 12' }],
    details: { count: 12 },
  });
});
