import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { allUiRequests, answerDialog, bash, callTool, example, nextUiRequest } from '../../support/agent/extensions.ts';
import { type Home, newHome, readSessionFile, type TestAgent } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const extensionArgs = (name: string) => ['-e', example(`extensions/${name}.ts`)];

/** A git repository whose file `code` contains `committed`. */
function repository(): Home & { code: string } {
  const home = newHome();
  const code = join(home.cwd, 'code');
  writeFileSync(code, 'committed\n');
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: home.cwd, env: { ...process.env, HOME: home.root } });
  git('init', '--quiet');
  git('add', 'code');
  git('-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '--quiet', '--message', 'first');
  return { ...home, code };
}

const checkpoints = ({ sessionFiles }: TestAgent) =>
  readSessionFile(sessionFiles()[0] ?? '').filter(({ customType }) => customType === 'git-checkpoint');

/** Overwrites the code in a run of two turns; returns the agent and a function that forks before the run. */
async function overwriteCode({ open }: AgentFixture, home: Home) {
  const agent = await open({
    home,
    args: extensionArgs('git-checkpoint'),
    script: [bash('echo agent > code'), { text: 'done' }],
  });
  await agent.peer.run('overwrite it');
  const { messages } = await agent.peer.ok({ type: 'get_fork_messages' });
  const fork = () => agent.peer.ok({ type: 'fork', entryId: messages[0].entryId });
  return { agent, fork };
}

for (const [how, before] of [
  ['changed', 'edited\n'],
  ['clean', 'committed\n'],
] as const) {
  verifies('V19', `git-checkpoint: a ${how} working tree is restored on a confirmed fork`, async (fixture) => {
    const { code, ...home } = repository();
    writeFileSync(code, before);
    const { agent, fork } = await overwriteCode(fixture, home);
    expect(checkpoints(agent)).toHaveLength(2);
    expect(readFileSync(code, 'utf8')).toBe('agent\n');

    const forked = fork();
    await answerDialog(agent.peer, 'confirm', { confirmed: true });

    expect(await forked).toMatchObject({ cancelled: false, text: 'overwrite it' });
    expect(readFileSync(code, 'utf8')).toBe(before);
    expect(allUiRequests(agent.peer, 'notify')).toMatchObject([{ message: 'The code was restored' }]);
  });
}

for (const reply of [{ confirmed: false }, { cancelled: true }]) {
  verifies('V19', `git-checkpoint: no file is restored after ${JSON.stringify(reply)}`, async (fixture) => {
    const { code, ...home } = repository();
    const { agent, fork } = await overwriteCode(fixture, home);

    const forked = fork();
    await answerDialog(agent.peer, 'confirm', reply);

    expect(await forked).toMatchObject({ cancelled: false });
    expect(readFileSync(code, 'utf8')).toBe('agent\n');
  });
}

verifies('V19', 'git-checkpoint: a git error is reported, and the fork continues', async (fixture) => {
  const { code, ...home } = repository();
  const { agent, fork } = await overwriteCode(fixture, home);
  rmSync(join(home.cwd, '.git'), { recursive: true });

  const forked = fork();
  await answerDialog(agent.peer, 'confirm', { confirmed: true });

  expect(await forked).toMatchObject({ cancelled: false });
  expect(allUiRequests(agent.peer, 'notify')).toMatchObject([
    { notifyType: 'error', message: expect.stringContaining('not a git repository') },
  ]);
});

verifies('V19', 'git-checkpoint: without a repository there is no checkpoint and no dialog', async (fixture) => {
  const { agent, fork } = await overwriteCode(fixture, newHome());

  await fork();

  expect(checkpoints(agent)).toEqual([]);
  expect(allUiRequests(agent.peer, 'confirm')).toEqual([]);
});

async function resultOf(peer: Peer) {
  const { messages } = await peer.ok({ type: 'get_messages' });
  return messages.find(({ role }: { role: string }) => role === 'toolResult');
}

verifies('V19', 'custom-tool: counts words, reports progress and returns details', async (fixture) => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'a.txt'), 'one two\nthree');
  writeFileSync(join(home.cwd, 'b.txt'), ' four ');
  const { peer } = await fixture.open({
    home,
    args: extensionArgs('custom-tool'),
    script: [callTool('count_words', { paths: ['a.txt', 'b.txt'] }), { text: 'done' }],
  });

  await peer.run('count');

  expect(await peer.find('tool_execution_update')).toMatchObject({
    partialResult: { content: [{ text: expect.stringMatching(/^[12] of 2 files$/) }] },
  });
  expect(await resultOf(peer)).toMatchObject({
    isError: false,
    content: [{ text: '4 words' }],
    details: { counts: { 'a.txt': 3, 'b.txt': 1 } },
  });
});

for (const [what, args, problem] of [
  ['a missing file', { paths: ['no.txt'] }, 'ENOENT'],
  ['invalid arguments', { paths: 'a.txt' }, 'Validation failed for tool "count_words"'],
] as const) {
  verifies('V19', `custom-tool: ${what} gives an error result`, async ({ open }) => {
    const { peer } = await open({
      args: extensionArgs('custom-tool'),
      script: [callTool('count_words', args), { text: 'done' }],
    });

    await peer.run('count');

    expect(await resultOf(peer)).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(problem) }],
    });
  });
}

verifies('V19', 'custom-tool: an abort stops it in the middle of a file', async ({ open }) => {
  const home = newHome();
  const endless = join(home.cwd, 'endless');
  writeFileSync(join(home.cwd, 'a.txt'), 'one');
  execFileSync('mkfifo', [endless]);
  const pipe = openSync(endless, 'r+');
  const { peer } = await open({
    home,
    args: extensionArgs('custom-tool'),
    script: [callTool('count_words', { paths: ['a.txt', 'endless'] })],
  });
  await peer.ok({ type: 'prompt', message: 'count' });
  await peer.next('tool_execution_update');

  const abort = peer.ok({ type: 'abort' });
  await peer.ok({ type: 'get_state' });
  writeSync(pipe, 'more');
  await abort;
  closeSync(pipe);

  expect(await peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  expect(await resultOf(peer)).toMatchObject({ isError: true, content: [{ text: 'The operation was aborted' }] });
});

const demos = [
  ['select', { value: 'green' }, '"green"'],
  ['confirm', { confirmed: true }, 'true'],
  ['input', { value: 'Ada' }, '"Ada"'],
  ['editor', { value: 'one\ntwo' }, '"one\\ntwo"'],
  ['select', { cancelled: true }, 'null'],
  ['input', { cancelled: true }, 'null'],
] as const;
for (const [method, reply, expected] of demos) {
  verifies('V19', `rpc-demo: /rpc-${method} accepts the response ${JSON.stringify(reply)}`, async ({ open }) => {
    const { peer } = await open({ args: extensionArgs('rpc-demo') });
    const prompt = peer.ok({ type: 'prompt', message: `/rpc-${method}` });

    await answerDialog(peer, method, reply);

    expect(await nextUiRequest(peer, 'notify')).toMatchObject({
      message: 'You said: '.concat(expected),
      notifyType: expected === 'null' ? 'warning' : 'info',
    });
    expect(await prompt).toEqual({ disposition: 'handled' });
  });
}

verifies('V19', 'rpc-demo: title, widget and status are sent from the start to the end of a run', async ({ open }) => {
  const { peer } = await open({
    args: extensionArgs('rpc-demo'),
    script: [bash('echo hi'), { text: 'done' }],
  });
  const { commands } = await peer.ok({ type: 'get_commands' });
  await peer.run('go');
  for (const suffix of ['', ' some words']) await peer.ok({ type: 'prompt', message: `/rpc-prefill${suffix}` });

  const names = ['rpc-select', 'rpc-confirm', 'rpc-input', 'rpc-editor', 'rpc-prefill'];
  expect(commands.map(({ name }: { name: string }) => name)).toEqual(names);
  expect(allUiRequests(peer, 'setTitle')).toMatchObject([{ title: 'tau: rpc-demo' }]);
  expect(allUiRequests(peer, 'setWidget')).toMatchObject([{ widgetKey: 'rpc-demo', widgetPlacement: 'belowEditor' }]);
  expect(allUiRequests(peer, 'setStatus').map(({ statusText }) => statusText)).toEqual([
    'ready',
    'turn 1',
    'turn 2',
    undefined,
  ]);
  expect(allUiRequests(peer, 'set_editor_text').map(({ text }) => text)).toEqual(['prefilled', 'some words']);
});

for (const [value, isError] of [
  ['Allow', false],
  ['Block', true],
] as const) {
  verifies('V19', `rpc-demo: sudo runs or is blocked after ${value}`, async ({ open }) => {
    const { peer } = await open({ args: extensionArgs('rpc-demo'), script: [bash(': sudo'), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    expect(await answerDialog(peer, 'select', { value })).toMatchObject({
      title: 'Run this as root?',
      timeout: 10_000,
    });
    await peer.next('agent_settled');

    expect(await resultOf(peer)).toMatchObject({ isError });
  });
}

verifies('V19', 'rpc-demo: leaving a session with messages needs a confirmation', async ({ open }) => {
  const { peer } = await open({ args: extensionArgs('rpc-demo') });
  const first = await peer.ok({ type: 'new_session' });
  await peer.run('say hello');
  const [declined, confirmed] = [peer.ok({ type: 'new_session' }), peer.ok({ type: 'new_session' })];
  await answerDialog(peer, 'confirm', { confirmed: false });
  await answerDialog(peer, 'confirm', { confirmed: true });

  expect(first).toMatchObject({ cancelled: false });
  expect(await declined).toEqual({ cancelled: true });
  expect(await confirmed).toMatchObject({ cancelled: false });
});
