import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, newHome } from '../../support/agent/test-agent.ts';
import { startServer } from '../../support/server/test-server.ts';

it('[W22] a client that closes the connection gets 1000', async () => {
  const server = await startServer();
  const peer = await server.attach();

  expect(await peer.disconnect()).toEqual({ code: 1000, reason: '' });
});

it('[W19 W20 W21 W24] an agent that cannot be started is reported, and the connection closes with 1011', async () => {
  const server = await startServer({ args: ['--agent-command', 'no-such-program'] });
  const peer = server.connect();

  const reason = 'Failed to spawn Pi process: command not found';
  expect(await peer.ended).toEqual({ code: 1011, reason });
  expect(peer.records).toEqual([
    { type: 'server_error', error: reason, code: 'internal' },
    { type: 'server_disconnected', reason: 'error', message: reason, code: 1011 },
  ]);
});

it('[W21] the close reason quotes the stderr of an agent that fails to start', async () => {
  const home = newHome();
  writeFileSync(join(home.root, 'bad.jsonl'), '{"shout":1}\n');
  const server = await startServer({ home, agentArgs: ['--script', join(home.root, 'bad.jsonl')] });

  const { code, reason } = await server.connect().ended;

  expect(code).toBe(1011);
  expect(reason).toMatch(/^Failed to spawn Pi process: .*bad\.jsonl:1: /);
});

it('[W19] invalid parameters are reported before the connection closes', async () => {
  const server = await startServer();

  for (const query of [
    { tail: 'many' },
    { stream: 'loud' },
    { tail: 0 },
    { after: -1, epoch: 'e' },
    { entries: 'yes' },
  ]) {
    const peer = server.connect(query);
    expect(await peer.ended).toMatchObject({
      code: 4400,
      reason: expect.stringContaining(Object.keys(query)[0] ?? ''),
    });
    expect(peer.eventTypes).toEqual(['server_error', 'server_disconnected']);
  }
});

it('[W25 W53] an agent that keeps crashing is given up, and its clients are closed with 1011', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '.', keep: true }],
  });
  const peer = await server.attach();
  for (let crashes = 1; crashes <= 3; crashes++) {
    server.killAgent();
    await peer.next('state_synced');
  }
  const { runId } = await peer.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'mine' });
  await peer.next('message_update');
  server.killAgent();

  expect(await peer.ended).toEqual({ code: 1011, reason: 'Pi process terminated' });
  expect(peer.eventTypes.slice(-5)).toEqual([
    'server_error',
    'agent_end',
    'agent_settled',
    'server_error',
    'server_disconnected',
  ]);
  expect(await peer.find('agent_settled')).toMatchObject({
    runId,
    outcome: 'error',
    errorCode: 'interrupted',
    clientMessageIds: ['mine'],
  });
  expect(peer.records.at(-1)).toMatchObject({ reason: 'error', message: 'Pi process terminated', code: 1011 });
});

it('[W53] a session that was given up can be opened again', async () => {
  const server = await startServer({ script: [{ text: 'Hello.', when: '.', keep: true }] });
  const peer = await server.attach();
  await peer.run('Hi');
  const { session } = peer.cursor;
  for (let crashes = 1; crashes <= 3; crashes++) {
    server.killAgent();
    await peer.next('state_synced');
  }
  server.killAgent();
  await peer.ended;

  const reopened = server.connect({ session });

  expect((await reopened.next('state_synced')).messages).toHaveLength(2);
  expect(await reopened.run('And?')).toContainEqual(expect.objectContaining({ type: 'agent_settled', outcome: 'ok' }));
});

it('[W25] an agent that exits by itself is not restarted', async () => {
  const server = await startServer({ agentArgs: ['-e', exitingExtension(newHome().root)] });
  const peer = await server.attach();

  peer.send({ type: 'prompt', message: '/leave' });

  expect(await peer.ended).toEqual({ code: 1011, reason: 'Pi process terminated' });
  expect(server.agents()).toHaveLength(1);
});

/** Writes an extension whose command ends the agent. */
function exitingExtension(folder: string): string {
  const path = join(folder, 'leaving.ts');
  const handler = 'async (args, ctx) => ctx.shutdown()';
  writeFileSync(path, `export default (pi) => pi.registerCommand('leave', { handler: ${handler} });`);
  return path;
}
