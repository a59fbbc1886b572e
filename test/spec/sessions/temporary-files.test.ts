import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, type OpenOptions, openTestAgent, type TestAgent } from '../../support/agent/test-agent.ts';
import { waitUntil } from '../../support/processes/processes.ts';

/** Opens an agent with its own temporary folder that runs one of these commands per prompt. */
async function openWithCommands(...commands: string[]): Promise<{ agent: TestAgent; temporary: string }> {
  const home = newHome();
  const temporary = join(home.root, 'temporary');
  mkdirSync(temporary);
  const script: OpenOptions['script'] = commands.flatMap((command) => [
    { toolCall: { name: 'bash', arguments: { command } } },
    { text: 'Done' },
  ]);
  return { agent: await openTestAgent('stdio', { home, script, env: { TMPDIR: temporary } }), temporary };
}

/** Waits until the guardian process, which removes the files, has exited. */
const guardianExited = (temporary: string) =>
  waitUntil(async () => {
    const processes = execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' }).split('\n');
    return !processes.some((line) => line.includes('tau-guardian') && line.includes(temporary));
  });

const logsIn = (temporary: string) => readdirSync(temporary).filter((name) => name.endsWith('.log'));

it('commands that print little leave no file', async () => {
  const { agent, temporary } = await openWithCommands('echo a', 'echo b >&2; false');

  await agent.peer.run('work');
  await agent.peer.run('work');
  const logs = logsIn(temporary);
  await agent.close();

  await guardianExited(temporary);
  expect([logs, readdirSync(temporary)]).toEqual([[], []]);
});

it('a command that prints much leaves its log, also after the agent has exited', async () => {
  const { agent, temporary } = await openWithCommands('seq 1 3000');

  await agent.peer.run('work');
  await agent.close();

  await guardianExited(temporary);
  expect(readdirSync(temporary)).toEqual([expect.stringMatching(/^pi-bash-[0-9a-f]{16}\.log$/)]);
});

it('SIGKILL of the agent during a command that prints much leaves no log', async () => {
  const { agent, temporary } = await openWithCommands();
  agent.peer.send({ type: 'bash', command: 'seq 1 100000; echo printed; sleep 1000' });
  await agent.peer.next(({ type, delta }) => type === 'bash_execution_update' && String(delta).includes('printed'));
  const logs = logsIn(temporary);

  agent.process?.kill('SIGKILL');

  await guardianExited(temporary);
  expect([logs.length, readdirSync(temporary)]).toEqual([1, []]);
});

it.each([
  ['abort', async ({ peer }: TestAgent) => void (await peer.ok({ type: 'abort' }))],
  ['SIGKILL of the agent', async ({ process }: TestAgent) => process?.kill('SIGKILL')],
])('%s during a command leaves no file', async (_what, stop) => {
  const { agent, temporary } = await openWithCommands('echo started; sleep 1000');
  await agent.peer.ok({ type: 'prompt', message: 'work' });
  await agent.peer.next((record) => JSON.stringify(record['partialResult'] ?? '').includes('started'));

  await stop(agent);
  const logs = logsIn(temporary);
  await agent.close();

  await guardianExited(temporary);
  expect([logs, readdirSync(temporary)]).toEqual([[], []]);
});
