import { connect, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../../support/processes/program.ts';
import { example } from '../../support/agent/extensions.ts';
import { newGate, sessionFiles } from '../../support/agent/test-agent.ts';
import { startServer, OWNER_TOKEN } from '../../support/server/test-server.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

const env = { PI_AUTH_TOKEN: OWNER_TOKEN, PYTHONDONTWRITEBYTECODE: '1' };

const words = (url: string, ...prompt: string[]) => ['python3', example('python/remote_session.py'), url, ...prompt];

it('remote_session.py prints the answer', async () => {
  const server = await startServer();

  const result = await startProgram(server.home, words(server.url, 'say', 'hello'), { env }).finished;

  expect(result).toMatchObject({ code: 0, stdout: 'hello\n', stderr: '' });
});

it('remote_session.py goes on where it was when the connection is cut', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Once ' }, { await: gate.path }, { text: 'upon a time.' }] }];
  const server = await startServer({ script, args: ['--allow-host', '127.0.0.1'] });
  const way = await wayTo(Number(new URL(server.url).port));
  const client = startProgram(server.home, words(`ws://127.0.0.1:${way.port}/session`, 'tell me a story'), { env });

  await client.waitForOutput('Once ');
  way.cut();
  gate.open();

  expect(await client.finished).toMatchObject({ code: 0, stdout: 'Once upon a time.\n' });
  expect(client.stderr()).toContain('reconnecting');
  expect(sessionFiles(server.home)).toHaveLength(1);
  expect(storedMessages(server.home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('remote_session.py ends with the reason when its token is refused', async () => {
  const server = await startServer();

  const result = await startProgram(server.home, words(server.url, 'say hello'), { env: { ...env, PI_AUTH_TOKEN: 'wrong' } })
    .finished;

  expect(result).toMatchObject({ code: 1, stderr: '1008\n' });
});

/** A way to a port of this machine that can be cut. */
async function wayTo(port: number): Promise<{ port: number; cut: () => void }> {
  const open = new Set<Socket>();
  const way = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    for (const socket of [near, far]) open.add(socket.on('error', () => {}));
    near.pipe(far).pipe(near);
  });
  const cut = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  await new Promise<void>((resolve) => way.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    cut();
    way.close();
  });
  return { port: (way.address() as { port: number }).port, cut };
}
