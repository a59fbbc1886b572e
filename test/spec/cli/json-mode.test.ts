import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import {
  newHome,
  readSessionFile,
  scriptArgs,
  sessionFiles,
  startAgentProcess,
  TAU,
} from '../../support/agent/test-agent.ts';
import { Peer } from '../../support/clients/peer.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { shortConversation, storedMessages, storeSession } from '../../support/sessions/stored-session.ts';

const json = (...args: string[]) => ['--mode', 'json', ...args];

const parsed = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

it('[Z41 Z67] the session header comes first, then every event of every prompt', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await runTau(home, json('say one', 'say two'), { input: '' });

  const [header, ...events] = parsed(stdout);
  const [path = ''] = sessionFiles(home);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(header).toEqual(readSessionFile(path)[0]);
  expect(events[0]).toEqual({ type: 'agent_start' });
  expect(events.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  expect(events.filter(({ type }) => type === 'agent_settled')).toHaveLength(2);
  expect(events.filter(({ type }) => /^(ready|response|entry_appended)$/.test(type))).toEqual([]);
});

it.each([['delta'], ['cumulative']])('[Z67] the events equal those of --mode rpc, with --stream %s', async (form) => {
  const home = newHome();
  const script = scriptArgs(home, [
    { steps: [{ text: 'Look.' }, { toolCall: { id: 'c1', name: 'bash', arguments: { command: 'echo hi' } } }] },
    { text: 'Done.' },
  ]);
  const peer = new Peer(startAgentProcess(home, ['--no-session', '--stream', form, ...script]).link);
  await peer.run('go');

  const { stdout } = await runTau(home, json('--no-session', '--stream', form, ...script, 'go'), { input: '' });

  const rpcEvents = peer.records.filter(({ type }) => type !== 'ready' && type !== 'response');
  const [header, ...events] = parsed(stdout);
  expect(header).toMatchObject({ type: 'session', version: 3, cwd: home.cwd });
  expect(comparable(events)).toEqual(comparable(rpcEvents));
});

it('[Z67] events of opening a session come after the header', async () => {
  const home = newHome();
  appendFileSync(storeSession(home, shortConversation(home.cwd)), '{"type":"message","id":"cccc');

  const { stdout } = await runTau(home, json('--continue', 'say hello'), { input: '' });

  const types = parsed(stdout).map(({ type }) => type);
  expect(types.slice(0, 3)).toEqual(['session', 'session_repaired', 'agent_start']);
});

it('[Z63] a failed run is reported in the events and on stderr, and exits with 1', async () => {
  const { code, stdout, stderr } = await runTau(newHome(), json('fail'), { input: '' });

  expect({ code, stderr }).toEqual({ code: 1, stderr: 'tau: 500 Internal server error\n' });
  expect(parsed(stdout).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'error' });
});

it('[Z32 Z67] after a signal the end of the run is still printed', async () => {
  const home = newHome();
  const script = scriptArgs(home, [{ steps: [{ text: 'Once upon' }, { stall: true }] }]);
  const run = startProgram(home, [process.execPath, TAU, ...json('tell', ...script)], { input: '' });
  await run.waitForOutput('"Once upon"');

  run.child.kill('SIGINT');

  const { code, stdout, stderr } = await run.finished;
  expect({ code, stderr }).toEqual({ code: 130, stderr: 'tau: stopped by a signal\n' });
  expect(parsed(stdout).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'aborted' });
  expect(storedMessages(home).at(-1)).toMatchObject({ stopReason: 'aborted' });
});

it('[Z30] --mode json exits silently with 0 when its reader closes the pipe', async () => {
  const home = newHome();
  const shell = `{ "$0" "$1" --mode json 'count to 50000' < /dev/null; echo $? > code; } | head -n 1; cat code`;

  const { stdout, stderr } = await startProgram(home, ['sh', '-c', shell, process.execPath, TAU]).finished;

  expect({ stdout, stderr }).toEqual({ stdout: expect.stringMatching(/^\{"type":"session",.+\}\n0\n$/), stderr: '' });
  expect(storedMessages(home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('[Z67] a reader that does not read delays the run and loses no event', async () => {
  const home = newHome();
  const done = join(home.root, 'done');
  const script = scriptArgs(home, [
    {
      steps: [
        { text: 'word ', times: 200_000 },
        // By the reported usage the context is not full.
        { usage: { input: 1, output: 1 } },
        { toolCall: { name: 'bash', arguments: { command: `touch ${done}` } } },
      ],
    },
    { text: 'end' },
  ]);
  const go = join(home.root, 'go');
  const reader = `head -c 100; while [ ! -e ${go} ]; do sleep 0.05; done; cat`;
  const shell = `"$@" | { ${reader}; }`;
  const program = [process.execPath, TAU, ...json('--stream', 'delta', ...script, 'go')];
  const run = startProgram(home, ['sh', '-c', shell, 'sh', ...program], { input: '' });
  await run.waitForOutput('{"type":"session"');
  const wasDone = existsSync(done);

  writeFileSync(go, '');

  const { code, stdout } = await run.finished;
  expect({ code, wasDone }).toEqual({ code: 0, wasDone: false });
  expect(existsSync(done)).toBe(true);
  expect(parsed(stdout).at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
});

/** Events without updates and without values that differ between runs. */
const comparable = (events: readonly object[]) =>
  JSON.parse(
    JSON.stringify(events, (key, value) => (/^(timestamp|runId|durationMs)$/.test(key) ? undefined : value)),
  ).filter(({ type }: { type: string }) => !type.endsWith('_update'));
