import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { NO_RETRY, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { verifies } from '../../support/verifies.ts';

const SECRET = 'hunter2';
const processes = ['stdio', 'unix'] as const;

verifies(
  'U27',
  'the log records start, session, model calls, tools, runs, rejections and exit',
  async ({ open, transport }) => {
    const script = [{ toolCall: { name: 'bash', arguments: { command: 'false' } } }, { text: 'It failed.' }];
    const agent = await open({ settings: NO_RETRY, script, args: ['--log-level', 'info'] });
    await agent.peer.run('go');
    await agent.peer.refused({ type: 'set_model', provider: 'acme', modelId: 'large' });
    const { sessionId } = await agent.peer.ok({ type: 'new_session' });
    await agent.close();

    const lines = agent.process?.stderr().trim().split('\n') ?? [];

    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /;
    expect(lines.every((line) => time.test(line))).toBe(true);
    const mode = transport === 'stdio' ? 'rpc' : 'socket';
    const reason = transport === 'stdio' ? '"stdin closed"' : 'SIGTERM';
    expect(lines.map((line) => line.replace(time, ''))).toEqual([
      expect.stringMatching(`^info  process started mode=${mode} pid=${agent.process?.pid} node=v`),
      expect.stringMatching(/^info {2}agent opened version=\S+ session=\S+ file=\S+$/),
      expect.stringMatching(/^info {2}model answered model=tau\/scripted ms=\d+ status=toolUse input=\d+ output=\d+$/),
      expect.stringMatching(/^info {2}tool ended tool=bash ms=\d+ isError=true$/),
      expect.stringMatching(/^info {2}model answered model=tau\/scripted ms=\d+ status=stop /),
      expect.stringMatching(/^info {2}run settled run=\S+ outcome=ok ms=\d+ turns=2 tokens=\d+$/),
      'warn  command refused command=set_model code=model_not_found',
      expect.stringMatching(`^info  session entered session=${sessionId} file=`),
      `info  agent closing why=${reason}`,
    ]);
  },
  processes,
);

it('[U27] without a level nothing is logged; TAU_LOG sets one, and a flag overrides it', async () => {
  const prompt = '{"type":"prompt","message":"hello"}\n{"type":"nonsense"}\n';
  const args = ['--mode', 'rpc', '--no-session'];
  const env = { TAU_LOG: 'warn' };

  const silent = await runTau(newHome(), args, { input: prompt });
  const warned = await runTau(newHome(), args, { input: prompt, env });
  const overruled = await runTau(newHome(), [...args, '--log-level', 'error'], { input: prompt, env });

  expect(silent.stderr).toBe('');
  expect(warned.stderr).toMatch(/^\S+ warn {2}command refused command=\? code=unknown_command\n$/);
  expect(overruled.stderr).toBe('');
});

it.each([
  ['an unknown level', { TAU_LOG: 'loud' }, [], 2],
  ['a log file in a missing folder', {}, ['--log-file', 'nowhere/log'], 1],
  ['a folder as log file', {}, ['--log-file', '.'], 1],
])('%s fails at start with one line on stderr', async (_label, env, args, code) => {
  const result = await runTau(newHome(), ['--mode', 'rpc', ...args], { env, input: '' });

  expect(result).toMatchObject({ code, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
});

it('[U28] a log file is appended to, private, and JSON lines if named .jsonl', async () => {
  const home = newHome();
  const path = join(home.root, 'tau.jsonl');
  const args = ['--mode', 'rpc', '--no-session', '--log-file', path];

  for (const _ of [1, 2]) expect(await runTau(home, args, { input: '' })).toMatchObject({ code: 0, stderr: '' });

  const lines = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ level, area, message }) => `${level} ${area} ${message}`)).toEqual([
    ...['info process started', 'info agent opened', 'info agent closing'],
    ...['info process started', 'info agent opened', 'info agent closing'],
  ]);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it('a session that cannot be opened or stored is logged as an error', async () => {
  const home = newHome();
  const path = join(home.root, 'log.txt');
  const args = ['--log-level', 'error', '--log-file', path];

  writeFileSync(join(home.root, 'letter.txt'), 'Dear all\n');

  for (const session of ['f00d', '../letter.txt']) {
    await runTau(home, ['--mode', 'rpc', '--session', session, ...args], { input: '' });
  }
  const agent = await openTestAgent('stdio', { home, args });
  await agent.peer.greeted();
  rmSync(agent.sessionFiles()[0] ?? '');
  await agent.peer.run('hello');
  await agent.close();

  const lines = readFileSync(path, 'utf8').trim().split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/ error process could not open$/),
    expect.stringMatching(/ error process could not open code=not_a_session$/),
    expect.stringMatching(/ error run settled run=\S+ outcome=error code=storage_failed /),
  ]);
});

verifies(
  'U29',
  'no message content and no secret reaches the log, at any level',
  async ({ open }) => {
    const home = newHome();
    const log = join(home.root, 'log.txt');
    mkdirSync(home.agentDir);
    writeFileSync(join(home.agentDir, 'settings.json'), `{"defaultModel":${SECRET}}`);
    writeFileSync(join(home.cwd, 'file.txt'), SECRET);
    const call = (name: string, args: object) => ({ toolCall: { name, arguments: args } });
    const script = [
      call('bash', { command: `echo ${SECRET}; env; cat file.txt` }),
      call('bash', { command: `echo ${SECRET} >&2; exit 3` }),
      call('read', { path: 'file.txt' }),
      call('write', { path: `${SECRET}.txt`, content: SECRET }),
      call(`tool-${SECRET}`, { any: SECRET }),
      { toolCall: { name: 'bash', rawArguments: `{${SECRET}` } },
      { steps: [{ thinking: SECRET }, { text: SECRET }] },
      { error: { status: 500, message: SECRET } },
    ];
    const env = { ANTHROPIC_API_KEY: SECRET, GREETING: SECRET };
    const args = ['--log-level', 'debug', '--log-file', log];

    const { peer, close, process } = await open({ home, script, env, args });
    await peer.run(`my password is ${SECRET}`);
    await peer.run({ message: SECRET, clientMessageId: SECRET });
    await peer.refused({ type: `do-${SECRET}` });
    await peer.refused({ type: 'set_model', provider: SECRET, modelId: SECRET });
    await peer.refused({ type: 'switch_session', sessionPath: `/nowhere/${SECRET}` });
    await peer.ok({ type: 'set_session_name', name: SECRET });
    peer.send(`{"type":"${SECRET}\n`);
    await peer.ok({ type: 'new_session' });
    await close();

    const logText = readFileSync(log, 'utf8');
    expect(JSON.stringify(peer.records)).toContain(SECRET);
    expect(logText).toMatch(/tool ended tool=bash ms=\d+ isError=false characters=\d+/);
    expect(logText).toContain('tool ended tool=? ');
    expect(logText).toContain('code=model_error');
    expect(logText).toContain('settings ignored in part problems=1');
    expect(`${logText}${process?.stderr()}`).not.toContain(SECRET);
    expect(readdirSync(home.root).filter((name) => name.startsWith('log'))).toEqual(['log.txt']);
  },
  processes,
);
