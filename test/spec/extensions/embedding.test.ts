import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  CommandFailed,
  ConnectionLost,
  type LocalAgent,
  type OpenAgentOptions,
  openAgent,
} from '../../../src/index.ts';
import { environment, newHome, readSessionFile, scriptArgs, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';

it('[V14] prompt, tool call and agent_settled happen in this process, without a child', async () => {
  const script = [
    { steps: [{ toolCall: { name: 'write', arguments: { path: 'made.txt', content: 'here' } } }] },
    { text: 'Made it.' },
  ];
  const [, path = ''] = scriptArgs(newHome(), script);
  const before = childrenOf(process.pid);
  const { agent, home } = await openEmbedded({ script: path, model: 'tau/scripted-small' });

  const { settled, messages, events } = await agent.client.promptAndWait('make a file');

  expect(settled?.outcome).toBe('ok');
  expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult', 'assistant']);
  expect(events.map(({ type }) => type)).toContain('tool_execution_end');
  expect(readFileSync(join(home.cwd, 'made.txt'), 'utf8')).toBe('here');
  expect(childrenOf(process.pid).filter((child) => !before.includes(child))).toEqual([]);
});

it('[V14 V9 V10] no event of a very fast model is lost', async () => {
  const { agent } = await openEmbedded();

  for (let round = 0; round < 100; round++) {
    const { messages, events } = await agent.client.promptAndWait(`say round ${round}`);
    expect(messages).toHaveLength(2);
    expect(JSON.stringify(messages[1])).toContain(`round ${round}`);
    expect([events[0]?.type, events.at(-1)?.type]).toEqual(['agent_start', 'agent_settled']);
  }
});

it('[V14] several agents run side by side, each in its own folder', async () => {
  const [first, second] = [await openEmbedded(), await openEmbedded()];

  await Promise.all([first, second].map(({ agent }) => agent.client.promptAndWait('write where.txt: here')));

  for (const { home } of [first, second]) expect(existsSync(join(home.cwd, 'where.txt'))).toBe(true);
  expect((await first.agent.client.getState()).sessionId).not.toBe((await second.agent.client.getState()).sessionId);
});

it('[V14] a session is written to disk only with `keep`', async () => {
  const inMemory = await openEmbedded();
  const persistent = await openEmbedded({ keep: true });

  await inMemory.agent.client.promptAndWait('say hello');
  await persistent.agent.client.promptAndWait('say hello');

  expect(sessionFiles(inMemory.home)).toEqual([]);
  expect(readSessionFile(sessionFiles(persistent.home)[0] ?? '').at(-1)).toMatchObject({
    message: { role: 'assistant' },
  });
});

it('[V14] a session file is opened or created, and released on close', async () => {
  const home = newHome();
  const session = join(home.cwd, 'mine.jsonl');
  const first = await openEmbedded({ session }, home);
  await first.agent.client.promptAndWait('say hello');

  await expect(openEmbedded({ session }, home)).rejects.toMatchObject({ code: 'session_in_use' });
  await first.agent.close();
  const second = await openEmbedded({ session }, home);

  expect((await second.agent.client.getMessages()).messages).toHaveLength(2);
});

it('[V14] close ends the background processes of this agent only', async () => {
  const [closing, remaining] = [await openEmbedded(), await openEmbedded()];
  const pidOf = ({ home }: { home: { cwd: string } }) => Number(readFileSync(join(home.cwd, 'pid'), 'utf8'));
  await closing.agent.client.promptAndWait('run `setsid sleep 1000 > /dev/null 2>&1 & echo $! > pid`');
  await remaining.agent.client.promptAndWait('run `sleep 1000 & echo $! > pid`');

  await closing.agent.close();

  expect(await filterAlive([pidOf(closing), pidOf(remaining)])).toEqual([pidOf(remaining)]);
});

it('[V14] a session that fails to open is released', async () => {
  const home = newHome();
  const session = join(home.cwd, 'mine.jsonl');

  await expect(openEmbedded({ session, name: '\n' }, home)).rejects.toMatchObject({ code: 'invalid_params' });
  const { agent } = await openEmbedded({ session, name: ' two\nlines ' }, home);

  expect(await agent.client.getState()).toMatchObject({ sessionFile: session, sessionName: 'two lines' });
});

it('[V14 V11] close stops the run and its tools, and rejects pending calls', async () => {
  const { agent, home } = await openEmbedded({ keep: true });
  const events = agent.client.events();
  const run = agent.client.promptAndWait('run `sleep 1000 & echo $! > pid; echo started; sleep 1000`');
  const outcome = run.catch((error: unknown) => error);
  for await (const event of events) if (JSON.stringify(event).includes('started\\n')) break;

  await agent.close();

  expect([await outcome]).toEqual([expect.toSatisfy((end) => end instanceof ConnectionLost || 'settled' in end)]);
  expect(await filterAlive([Number(readFileSync(join(home.cwd, 'pid'), 'utf8'))])).toEqual([]);
  await expect(agent.client.getState()).rejects.toBeInstanceOf(ConnectionLost);
  expect(readSessionFile(sessionFiles(home)[0] ?? '').at(-1)).toMatchObject({
    message: { role: 'toolResult', isError: true },
  });
});

it('[V14] rejected commands and unusable sessions are errors with a code', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'note.txt'), 'dear diary');
  const { agent } = await openEmbedded({}, home);

  await expect(agent.client.setModel({ provider: 'a', modelId: 'b' })).rejects.toBeInstanceOf(CommandFailed);
  await expect(openEmbedded({ session: join(home.cwd, 'note.txt') }, home)).rejects.toMatchObject({
    code: 'not_a_session',
  });
});

it('[V14] an agent closes at the end of its scope', async () => {
  const home = newHome();
  const session = join(home.cwd, 'mine.jsonl');
  {
    await using agent = await openAgent({ session, cwd: home.cwd, agentDir: home.agentDir, env: environment(home) });
    await agent.client.promptAndWait('say hello');
  }

  const { agent } = await openEmbedded({ session }, home);

  expect((await agent.client.getState()).messageCount).toBe(2);
});

async function openEmbedded(options: OpenAgentOptions = {}, home = newHome()) {
  const agent: LocalAgent = await openAgent({
    cwd: home.cwd,
    agentDir: home.agentDir,
    env: environment(home),
    ...options,
  });
  onTestFinished(() => agent.close());
  return { agent, home };
}

const childrenOf = (pid: number): string[] =>
  execFileSync('ps', ['-A', '-o', 'ppid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.trim().startsWith(`${pid} `) && !line.includes('ps -A'));
