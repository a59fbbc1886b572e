import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { allUiRequests, answerDialog, bash, example, nextUiRequest } from '../../support/agent/extensions.ts';
import { connectWhenListening, newHome, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

const args = ['-e', example('extensions/permission-gate.ts')];
const script = [bash('rm -rf precious'), { text: 'done' }];

/** Creates a file that the dangerous call deletes. */
function createPreciousFile({ home }: Pick<TestAgent, 'home'>) {
  const path = join(home.cwd, 'precious');
  writeFileSync(path, '');
  return { isThere: () => existsSync(path) };
}

async function resultOf(peer: Peer) {
  const { messages } = await peer.ok({ type: 'get_messages' });
  return messages.find(({ role }: { role: string }) => role === 'toolResult');
}

verifies('X46', 'a dangerous call runs when the client allows it', async ({ open }) => {
  const agent = await open({ args, script });
  const { isThere } = createPreciousFile(agent);
  await agent.peer.ok({ type: 'prompt', message: 'go' });

  await answerDialog(agent.peer, 'select', { value: 'Allow' });
  await agent.peer.next('agent_settled');

  expect(isThere()).toBe(false);
  expect(await resultOf(agent.peer)).toMatchObject({ isError: false });
});

for (const [how, reply] of [
  ['blocks it', { value: 'Block' }],
  ['cancels the dialog', { cancelled: true }],
] as const) {
  verifies('X46 X41', `a dangerous call does not run when the client ${how}`, async ({ open }) => {
    const agent = await open({ args, script });
    const { isThere } = createPreciousFile(agent);
    await agent.peer.ok({ type: 'prompt', message: 'go' });

    await answerDialog(agent.peer, 'select', reply);
    const settled = await agent.peer.next('agent_settled');

    expect(isThere()).toBe(true);
    expect(await resultOf(agent.peer)).toMatchObject({ isError: true, content: [{ text: 'Blocked by the user' }] });
    expect(settled).toMatchObject({ outcome: 'ok' });
    expect(allUiRequests(agent.peer, 'notify')).toMatchObject([{ notifyType: 'warning' }]);
  });
}

verifies(
  'X46 X6',
  'a dangerous call does not run when the dialog times out',
  async ({ open }) => {
    const agent = await open({ args, script, env: { PERMISSION_GATE_TIMEOUT_MS: '20' } });
    const { isThere } = createPreciousFile(agent);

    await agent.peer.run('go');

    expect(isThere()).toBe(true);
    expect(await resultOf(agent.peer)).toMatchObject({ isError: true, content: [{ text: 'Blocked by the user' }] });
  },
  ['stdio', 'unix'],
);

verifies('X46 X7 X9', 'a dangerous call does not run when the run is aborted; the dialog ends', async ({ open }) => {
  const agent = await open({ args, script });
  const { isThere } = createPreciousFile(agent);
  await agent.peer.ok({ type: 'prompt', message: 'go' });
  const { id } = await nextUiRequest(agent.peer, 'select');

  await agent.peer.ok({ type: 'abort' });

  expect(await agent.peer.find('extension_ui_resolved')).toMatchObject({ id, by: 'abort' });
  expect(await agent.peer.find('agent_settled')).toMatchObject({ outcome: 'aborted' });
  expect(isThere()).toBe(true);
  expect(await agent.peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, pendingUi: [] });
});

it('[X46 X9] a dangerous call does not run when the input ends, and the process exits', async () => {
  const agent = await openTestAgent('stdio', { args, script });
  const { isThere } = createPreciousFile(agent);
  await agent.peer.ok({ type: 'prompt', message: 'go' });
  await nextUiRequest(agent.peer, 'select');

  agent.process?.endInput();

  expect(await agent.peer.find('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect((await agent.process?.exited)?.code).toBe(0);
  expect(isThere()).toBe(true);
});

it('[X46 X8] the dialog waits for a reconnecting client, which gets it again', async () => {
  const home = newHome();
  const agent = await openTestAgent('unix', { home, args, script });
  const { isThere } = createPreciousFile(agent);
  await agent.peer.ok({ type: 'prompt', message: 'go' });
  const { id } = await nextUiRequest(agent.peer, 'select');
  agent.peer.end();
  await agent.peer.closed();

  const next = new Peer(await connectWhenListening(agent.socketPath ?? ''));
  const again = await answerDialog(next, 'select', { value: 'Allow' });
  await next.find('agent_settled');

  expect(again.id).toBe(id);
  expect(isThere()).toBe(false);
});
