import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import type { RemotePeer } from '../../support/clients/remote-peer.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';

const TALK = [{ text: 'Hello there.', when: '.', keep: true }];

const marksFolder = ({ agentDir }: Home) => join(agentDir, 'server', 'runs');

/** Makes the folder of run marks unusable: permissions do not stop the superuser, but a file in its place does. */
function replaceByFile(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  writeFileSync(folder, 'not a folder');
}

async function runEveryKindOfPrompt(peer: RemotePeer): Promise<void> {
  for (const type of ['prompt', 'steer', 'follow_up', 'abort_and_prompt']) {
    const { runId } = await peer.ok({ type, message: type, clientMessageId: type });
    await peer.next((record) => record.type === 'agent_settled' && record['runId'] === runId);
  }
}

it.each<[string, (folder: string) => void]>([
  ['removed', (folder) => rmSync(folder, { recursive: true })],
  ['replaced by a file', replaceByFile],
])('[W110] prompts are answered and settle while the folder of run marks is %s', async (_how, damage) => {
  const server = await startServer({ script: TALK });
  const peer = await server.attach();
  await peer.run('before');
  damage(marksFolder(server.home));

  await runEveryKindOfPrompt(peer);
  const moved = await peer.ok({ type: 'new_session' });
  await peer.run('in another session');
  const newcomer = await server.attach();
  await newcomer.run('in a third session');

  expect(moved).toMatchObject({ cancelled: false });
  const settled = peer.records.filter(({ type }) => type === 'agent_settled').map(({ runId }) => runId);
  expect(new Set(settled).size).toBe(settled.length);
});

it('[W110] a server starts without a folder for run marks, and logs the first failure only', async () => {
  const home = newHome();
  const first = await startServer({ home });
  first.kill('SIGKILL');
  await first.exited;
  replaceByFile(marksFolder(home));

  const server = await startServer({ home, script: TALK });
  const peer = await server.attach();
  await peer.run('one');
  await peer.run('two');

  expect(server.stderr().match(/marks of runs are not stored/g)).toHaveLength(1);
});

itOnOneServer('the marks of runs are in the log')(
  '[W110] marks are stored again when their folder can be written',
  async () => {
    const server = await startServer({ script: TALK });
    const folder = marksFolder(server.home);
    const peer = await server.attach();
    rmSync(folder, { recursive: true });
    await peer.run('one');

    expect(existsSync(folder)).toBe(true);
    const [name = ''] = readdirSync(folder);
    expect(JSON.parse(readFileSync(join(folder, name), 'utf8')).ended).toHaveLength(1);
  },
);
