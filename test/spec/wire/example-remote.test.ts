import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { example } from '../../support/agent/extensions.ts';
import { newGate, sessionFiles } from '../../support/agent/test-agent.ts';
import { startProgram } from '../../support/processes/program.ts';
import { OWNER_TOKEN, startServer } from '../../support/server/test-server.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

const env = { PI_AUTH_TOKEN: OWNER_TOKEN, PYTHONDONTWRITEBYTECODE: '1' };

const clientArgs = (url: string, ...prompt: string[]) => [
  'python3',
  example('python/remote_session.py'),
  url,
  ...prompt,
];

it('remote_session.py prints the response', async () => {
  const server = await startServer();

  const result = await startProgram(server.home, clientArgs(server.url, 'say', 'hello'), { env }).finished;

  expect(result).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
});

it('remote_session.py resumes when the connection is cut', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Once ' }, { await: gate.path }, { text: 'upon a time.' }] }];
  const server = await startServer({ script, args: ['--allow-host', '127.0.0.1'] });
  const proxy = await startCuttableProxy(Number(new URL(server.url).port));
  const client = startProgram(server.home, clientArgs(`ws://127.0.0.1:${proxy.port}/session`, 'tell me a story'), {
    env,
  });

  await client.waitForOutput('Once ');
  proxy.cut();
  gate.open();

  expect(await client.finished).toMatchObject({ code: 0, stdout: 'Once upon a time.\n' });
  expect(client.stderr()).toContain('reconnecting');
  expect(sessionFiles(server.home)).toHaveLength(1);
  expect(storedMessages(server.home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('remote_session.py continues at its next address', async () => {
  const server = await startServer();
  const addresses = `ws://127.0.0.1:1/session,${server.url}`;

  const result = await startProgram(server.home, clientArgs(addresses, 'say hello'), { env }).finished;

  expect(result).toMatchObject({
    code: 0,
    stdout: 'hello\n',
    stderr: expect.stringContaining('refused: reconnecting'),
  });
});

it('remote_session.py exits with the close code when its token is rejected', async () => {
  const server = await startServer();

  const result = await startProgram(server.home, clientArgs(server.url, 'say hello'), {
    env: { ...env, PI_AUTH_TOKEN: 'wrong' },
  }).finished;

  expect(result).toMatchObject({ code: 1, stderr: '1008\n' });
});

/** A proxy to a local port whose connections can be cut. */
async function startCuttableProxy(port: number): Promise<{ port: number; cut: () => void }> {
  const open = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  return { port: (proxy.address() as { port: number }).port, cut };
}
