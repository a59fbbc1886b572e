import { expect, it, onTestFinished } from 'vitest';
import { killFamily } from '../../../system/processes/process-group.ts';
import { MAX_MESSAGE_BYTES } from './message-lines.ts';
import { StdioTransport } from './stdio-transport.ts';

const family = 'stdio-transport-test';

async function connectTo(script: string) {
  const transport = new StdioTransport({ command: 'bash', args: ['-c', script], cwd: '/', env: process.env, family });
  const messages: unknown[] = [];
  const closed = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => void messages.push(message);
  onTestFinished(() => transport.close());
  onTestFinished(() => killFamily(family));
  await transport.start();
  return { transport, messages, closed };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

it('reads JSON-RPC messages from lines and skips other output', async () => {
  const { transport, messages, closed } = await connectTo('echo hello; echo "{"; read -r line; echo "$line"; echo []');

  await transport.send(ping);
  await closed;

  expect(messages).toEqual([ping]);
  expect(transport.failure).toBe('ended with code 0');
});

it.each([
  ['its code and what it said', 'echo one >&2; echo two >&2; exit 3', 'ended with code 3: one\ntwo'],
  ['a signal', 'kill -KILL $$', 'was killed by SIGKILL'],
  ['that it closed its output', 'exec >&-; sleep 1000', 'closed its output'],
])('reports %s', async (_what, script, failure) => {
  const { transport, closed } = await connectTo(script);

  await closed;

  expect(transport.failure).toBe(failure);
  await expect(transport.send(ping)).rejects.toThrow('has ended');
});

it('keeps only the end of stderr', async () => {
  const { transport, closed } = await connectTo('seq 1 100000 >&2; exit 1');

  await closed;

  expect(transport.failure).toMatch(/^ended with code 1: [\d\n]*\n99999\n100000$/);
  expect(transport.failure?.length).toBeLessThan(1100);
});

it('fails if the program does not read its input', async () => {
  const { transport, closed } = await connectTo('sleep 1000');
  const message = { ...ping, params: { text: 'x'.repeat(1024 * 1024) } };

  let sent = 0;
  for (; transport.failure === undefined; sent++) await transport.send(message);
  await closed;

  expect(transport.failure).toBe('does not read what it is sent');
  expect(sent).toBe(MAX_MESSAGE_BYTES / 1024 / 1024);
});

it('fails if the program closes its input', async () => {
  const { transport, messages, closed } = await connectTo(`exec <&-; echo '${JSON.stringify(ping)}'; sleep 1000`);
  while (messages.length === 0) await new Promise((resolve) => setImmediate(resolve));

  await transport.send(ping);
  await closed;

  expect(transport.failure).toBe('does not read what it is sent');
});

it('a program that cannot be started reports the reason', async () => {
  const transport = new StdioTransport({ command: 'no-such-program', args: [], cwd: '/', env: {}, family });

  await transport.start();

  expect(transport.failure).toBe('cannot be started (ENOENT)');
  await transport.close();
});

it('closing waits for a program to exit, and kills one that does not', async () => {
  const polite = await connectTo('cat > /dev/null; echo bye >&2');
  const rude = await connectTo('trap "" TERM; sleep 1000; sleep 1000');

  await Promise.all([polite.transport.close(), rude.transport.close()]);

  expect([polite.transport.failure, rude.transport.failure]).toEqual([undefined, undefined]);
});
