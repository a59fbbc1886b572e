import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startServerOnSocket, startServer, OWNER_TOKEN } from '../../support/server/test-server.ts';
import { startProgram, runTau } from '../../support/processes/program.ts';
import { newHome, TAU } from '../../support/agent/test-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';

const tls = (name: string) => join(import.meta.dirname, '../../fixtures/tls', name);

it('[W60] prints where to go, the login link and the address of sockets, and nothing else', async () => {
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

it('[W60] says https and wss when it speaks TLS, and a name that leads here when it listens everywhere', async () => {
  const words = ['--host', '0.0.0.0', '--tls-cert', tls('cert.pem'), '--tls-key', tls('key.pem')];
  const server = startProgram(newHome(), [process.execPath, TAU, 'serve', '--port', '0', ...words]);
  await server.waitForOutput('/session\n');

  expect(server.stdout()).toMatch(/^https:\/\/localhost:\d+\/#code=\S+\nwss:\/\/localhost:\d+\/session\n$/);
});

it.each<[string, string, string, number]>([
  [
    'a port in use',
    '--port TAKEN',
    'cannot listen on 127.0.0.1:TAKEN: it is in use. Choose another with --port, or any with --port 0',
    1,
  ],
  ['a host that there is not', '--host nowhere.invalid', 'cannot listen on nowhere.invalid: there is no such host', 1],
  [
    'others who could read along',
    '--host 0.0.0.0',
    'cannot listen on 0.0.0.0: others could read along. Give --tls-cert and --tls-key, or --behind-proxy if a proxy encrypts',
    1,
  ],
  ['tokens that are not there', '--tokens gone.json', 'CWD/gone.json: there is no such file', 1],
  [
    'tokens that are not sound',
    '--tokens bad.json',
    'CWD/bad.json: token 1: a field is unknown: there is name, scopes, allowedPaths, createdAt, expiresAt',
    1,
  ],
  [
    'a socket file in no folder',
    '--socket none/a.sock',
    'cannot listen on CWD/none/a.sock: there is no folder CWD/none',
    1,
  ],
  ['a socket file that is a file', '--socket bad.json', 'cannot listen on CWD/bad.json: there is a file already', 1],
  ['a socket file that is a folder', '--socket .', 'cannot listen on CWD: there is a folder already', 1],
  [
    'a model that there is not',
    '--model nope',
    'Model "nope" not found. Use --list-models to see available models.',
    1,
  ],
  [
    'a tool that there is not',
    '--tools nope',
    'There is no tool nope: there is read, bash, edit, write, grep, find, ls, todo (see tau help server)',
    2,
  ],
  [
    'a certificate that is not there',
    '--tls-cert gone --tls-key gone',
    "cannot read gone: ENOENT: no such file or directory, open 'gone' (see tau help server)",
    2,
  ],
  ['a certificate without its key', '--tls-cert gone', '--tls-cert and --tls-key go together (see tau help server)', 2],
  [
    'a port that is none',
    '--port 70000',
    '--port takes a whole number from 0 to 65535, not 70000 (see tau help server)',
    2,
  ],
  [
    'a name that is none',
    '--allow-host a/b',
    '--allow-host takes a name like tau.example.org, not "a/b" (see tau help server)',
    2,
  ],
  [
    'an origin that is none',
    '--allow-origin a',
    '--allow-origin takes one like https://tau.example.org, not "a" (see tau help server)',
    2,
  ],
  [
    'a base path that is none',
    '--base-path a?b',
    '--base-path takes a path like /tau, not "a?b" (see tau help server)',
    2,
  ],
  ['a folder that is none', '--cwd gone', '--cwd is no folder: gone (see tau help server)', 2],
  ['a word too many', 'please', 'tau serve takes no "please" (see tau help server)', 2],
])('[W61] does not start with %s, and says so in one line', async (_what, words, sentence, code) => {
  const home = newHome();
  const port = String(await taken());
  writeFileSync(join(home.cwd, 'bad.json'), JSON.stringify({ tokens: { 'a-secret': { path: ['/'] } } }));

  const result = await runTau(home, ['serve', '--port', '0', ...words.replace('TAKEN', port).split(' ')]);

  const stderr = `tau: ${sentence.replaceAll('CWD', home.cwd).replaceAll('TAKEN', port)}\n`;
  expect(result).toEqual({ code, signal: null, stdout: '', stderr });
});

it('[W61] does not take the socket file of another server', async () => {
  const { home, socketPath } = await startServerOnSocket();

  const second = await runTau(home, ['serve', '--port', '0', '--socket', socketPath]);

  expect(second).toMatchObject({ code: 1, stdout: '', stderr: `tau: cannot listen on ${socketPath}: it is in use\n` });
});

it('[W62] ends with its agents at a signal, also in the middle of a run, and a second signal does not wait', async () => {
  const script = [{ steps: [{ text: 'Once upon a time ' }, { stall: true }] }];
  const patient = await startServer({ script, args: ['--drain-seconds', '600'] });
  const hurried = await startServer({ script, args: ['--drain-seconds', '0'] });
  for (const server of [patient, hurried]) {
    const peer = await server.attach();
    peer.send({ type: 'prompt', message: 'tell me a story' });
    await peer.next('message_update');
  }

  hurried.kill('SIGTERM');
  patient.kill('SIGTERM');
  await drained(patient);
  patient.kill('SIGINT');

  expect(await hurried.exited).toEqual({ code: 143, signal: null });
  expect(await patient.exited).toEqual({ code: 130, signal: null });
  expect(await filterAlive(hurried.agents().map(({ pid }) => pid))).toEqual([]);
});

/** Settles when the server takes nobody any more. */
async function drained({ get }: { get: (path: string) => Promise<Response> }): Promise<void> {
  while ((await get('readyz')).status === 200) await new Promise((resolve) => setImmediate(resolve));
}

/** A port on which somebody else listens. */
async function taken(): Promise<number> {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  onTestFinished(() => void other.close());
  return (other.address() as { port: number }).port;
}
