import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { untilNextPoll } from '../../support/processes/poll.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { itOnOneServer, OWNER_TOKEN, startServer, startServerOnSocket } from '../../support/server/test-server.ts';

const tls = (name: string) => join(import.meta.dirname, '../../fixtures/tls', name);

it('[W60] tau serve prints the login link and the WebSocket address, and nothing else', async () => {
  const server = startProgram(newHome(), [process.execPath, TAU, 'serve', '--port', '0', '--base-path', 'tau/'], {
    env: { PI_AUTH_TOKEN: OWNER_TOKEN },
  });
  await server.waitForOutput('/session\n');
  const [, port] = /:(\d+)/.exec(server.stdout()) ?? [];

  expect((await fetch(`http://127.0.0.1:${port}/tau/readyz`)).status).toBe(200);
  server.child.kill('SIGTERM');

  const { code, stdout, stderr } = await server.finished;
  expect({ code, stderr }).toEqual({ code: 143, stderr: '' });
  expect(stdout.split('\n')).toEqual([
    expect.stringMatching(new RegExp(`^http://127\\.0\\.0\\.1:${port}/tau/#code=[\\w-]{43}$`)),
    `ws://127.0.0.1:${port}/tau/session`,
    '',
  ]);
});

it('[W60] tau serve prints https and wss with TLS, and localhost when it listens on all addresses', async () => {
  const flagArgs = ['--host', '0.0.0.0', '--tls-cert', tls('cert.pem'), '--tls-key', tls('key.pem')];
  const server = startProgram(newHome(), [process.execPath, TAU, 'serve', '--port', '0', ...flagArgs]);
  await server.waitForOutput('/session\n');

  expect(server.stdout()).toMatch(/^https:\/\/localhost:\d+\/#code=\S+\nwss:\/\/localhost:\d+\/session\n$/);
});

it.each([
  ['too short', 'fifteen-chars-x', true],
  ['too uniform', 'abcabcabcabcabcabcabcabc', true],
  ['the example of the guide', 'your-secret-token', true],
  ['long enough', 'sixteen-chars-xy', false],
])('[A28] a token that is %s', async (_, token, isWarned) => {
  const home = newHome();
  const tokens = join(home.root, 'tokens.json');
  const log = join(home.root, 'serve.log');
  writeFileSync(tokens, JSON.stringify({ tokens: { [token]: { name: 'laptop' } } }), { mode: 0o600 });
  const flags = ['--port', '0', '--tokens', tokens, '--log-file', log];
  const server = startProgram(home, [process.execPath, TAU, 'serve', ...flags], { env: { PI_AUTH_TOKEN: token } });
  await server.waitForOutput('/session\n');
  const [, port] = /:(\d+)/.exec(server.stdout()) ?? [];
  const list = await fetch(`http://127.0.0.1:${port}/api/sessions`, { headers: { authorization: `Bearer ${token}` } });
  server.child.kill('SIGTERM');
  const { stderr } = await server.finished;

  const advice = 'can be guessed: use a random one of at least 16 characters, as tau token create prints';
  const logged = readFileSync(log, 'utf8');
  expect(list.status).toBe(200);
  expect(stderr).toBe(isWarned ? `tau: PI_AUTH_TOKEN ${advice}\n` : '');
  expect(logged.includes(`auth PI_AUTH_TOKEN ${advice}\n`)).toBe(isWarned);
  expect(logged.includes(`auth ${tokens}: the token "laptop" ${advice}\n`)).toBe(isWarned);
  expect(logged).not.toContain(token);
});

it.each<[string, string, string, number]>([
  [
    'a port in use',
    '--port TAKEN',
    'cannot listen on 127.0.0.1:TAKEN: it is in use. Choose another with --port, or any with --port 0',
    1,
  ],
  ['an unknown host', '--host nowhere.invalid', 'cannot listen on nowhere.invalid: there is no such host', 1],
  [
    'an unencrypted public address',
    '--host 0.0.0.0',
    'cannot listen on 0.0.0.0: others could read along. Give --tls-cert and --tls-key, or --behind-proxy if a proxy encrypts',
    1,
  ],
  ['a missing tokens file', '--tokens gone.json', 'CWD/gone.json: there is no such file', 1],
  [
    'a malformed tokens file',
    '--tokens bad.json',
    'CWD/bad.json: token 1: a field is unknown: there is name, scopes, allowedPaths, limit, createdAt, expiresAt',
    1,
  ],
  [
    'a socket file in a missing folder',
    '--socket none/a.sock',
    'cannot listen on CWD/none/a.sock: there is no folder CWD/none',
    1,
  ],
  ['a socket path that is a file', '--socket bad.json', 'cannot listen on CWD/bad.json: there is a file already', 1],
  ['a socket path that is a folder', '--socket .', 'cannot listen on CWD: there is a folder already', 1],
  ['an unknown model', '--model nope', 'Model "nope" not found. Use --list-models to see available models.', 1],
  [
    'an unknown tool',
    '--tools nope',
    'There is no tool nope: there is read, bash, edit, write, grep, find, ls, todo (see tau help server)',
    2,
  ],
  [
    'a missing certificate',
    '--tls-cert gone --tls-key gone',
    "cannot read gone: ENOENT: no such file or directory, open 'gone' (see tau help server)",
    2,
  ],
  ['a certificate without its key', '--tls-cert gone', '--tls-cert and --tls-key go together (see tau help server)', 2],
  [
    'an invalid port',
    '--port 70000',
    '--port takes a whole number from 0 to 65535, not 70000 (see tau help server)',
    2,
  ],
  [
    'an invalid host name',
    '--allow-host a/b',
    '--allow-host takes a name like tau.example.org, not "a/b" (see tau help server)',
    2,
  ],
  [
    'an invalid origin',
    '--allow-origin a',
    '--allow-origin takes one like https://tau.example.org, not "a" (see tau help server)',
    2,
  ],
  ['an invalid base path', '--base-path a?b', '--base-path takes a path like /tau, not "a?b" (see tau help server)', 2],
  ['a missing folder', '--cwd gone', '--cwd is no folder: gone (see tau help server)', 2],
  ['an extra argument', 'please', 'tau serve takes no "please" (see tau help server)', 2],
])('[W61] tau serve fails with one line on stderr for %s', async (_label, flagArgs, message, code) => {
  const home = newHome();
  const port = String(await portInUse());
  writeFileSync(join(home.cwd, 'bad.json'), JSON.stringify({ tokens: { 'a-secret': { path: ['/'] } } }));

  const result = await runTau(home, ['serve', '--port', '0', ...flagArgs.replace('TAKEN', port).split(' ')]);

  const stderr = `tau: ${message.replaceAll('CWD', home.cwd).replaceAll('TAKEN', port)}\n`;
  expect(result).toEqual({ code, signal: null, stdout: '', stderr });
});

it('[W61] tau serve does not take over the socket file of another server', async () => {
  const { home, socketPath } = await startServerOnSocket();

  const second = await runTau(home, ['serve', '--port', '0', '--socket', socketPath]);

  expect(second).toMatchObject({ code: 1, stdout: '', stderr: `tau: cannot listen on ${socketPath}: it is in use\n` });
});

itOnOneServer('a front node has no runs to wait for')(
  '[W62] a signal ends the server and its agents, also during a run, and a second signal skips the drain',
  async () => {
    const script = [{ steps: [{ text: 'Once upon a time ' }, { stall: true }] }];
    const draining = await startServer({ script, args: ['--drain-seconds', '600'] });
    const immediate = await startServer({ script, args: ['--drain-seconds', '0'] });
    for (const server of [draining, immediate]) {
      const peer = await server.attach();
      peer.send({ type: 'prompt', message: 'tell me a story' });
      await peer.next('message_update');
    }

    immediate.kill('SIGTERM');
    draining.kill('SIGTERM');
    await waitUntilNotReady(draining);
    draining.kill('SIGINT');

    expect(await immediate.exited).toEqual({ code: 143, signal: null });
    expect(await draining.exited).toEqual({ code: 130, signal: null });
    expect(await filterAlive(immediate.agents().map(({ pid }) => pid))).toEqual([]);
  },
);

/** Waits until the server is no longer ready. */
async function waitUntilNotReady({ get }: { get: (path: string) => Promise<Response> }): Promise<void> {
  while ((await get('readyz')).status === 200) await untilNextPoll();
}

/** Returns a port in use. */
async function portInUse(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  onTestFinished(() => void other.close());
  return (other.address() as { port: number }).port;
}
