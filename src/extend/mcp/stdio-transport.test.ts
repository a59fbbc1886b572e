import { expect, it, onTestFinished } from 'vitest';
import { killFamily } from '../../system/processes/process-group.ts';
import { MAX_MESSAGE_BYTES } from './limits.ts';
import { StdioTransport } from './stdio-transport.ts';

const family = 'stdio-transport-test';

/** A transport to a program of a few lines, with what it said and when it is over. */
async function talkingTo(script: string) {
  const transport = new StdioTransport({ command: 'bash', args: ['-c', script], cwd: '/', env: process.env, family });
  const messages: unknown[] = [];
  const over = new Promise<void>((resolve) => {
    transport.onclose = resolve;
  });
  transport.onmessage = (message) => void messages.push(message);
  onTestFinished(() => transport.close());
  onTestFinished(() => killFamily(family));
  await transport.start();
  return { transport, messages, over };
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' } as const;

it('takes messages from lines, and passes over everything else', async () => {
  const { transport, messages, over } = await talkingTo('echo hello; echo "{"; read -r line; echo "$line"; echo []');

  await transport.send(ping);
  await over;

  expect(messages).toEqual([ping]);
  expect(transport.trouble).toBe('ended with code 0');
});

it.each([
  ['its code and what it said', 'echo one >&2; echo two >&2; exit 3', 'ended with code 3: one\ntwo'],
  ['a signal', 'kill -KILL $$', 'was killed by SIGKILL'],
  ['that it closed its output', 'exec >&-; sleep 1000', 'closed its output'],
])('tells of %s', async (_what, script, trouble) => {
  const { transport, over } = await talkingTo(script);

  await over;

  expect(transport.trouble).toBe(trouble);
  await expect(transport.send(ping)).rejects.toThrow('is gone');
});

it('remembers the end of what was said on stderr, and no more', async () => {
  const { transport, over } = await talkingTo('seq 1 100000 >&2; exit 1');

  await over;

  expect(transport.trouble).toMatch(/^ended with code 1: [\d\n]*\n99999\n100000$/);
  expect(transport.trouble?.length).toBeLessThan(1100);
});

it('ends with a program that does not read', async () => {
  const { transport, over } = await talkingTo('sleep 1000');
  const message = { ...ping, params: { text: 'x'.repeat(1024 * 1024) } };

  let sent = 0;
  for (; transport.trouble === undefined; sent++) await transport.send(message);
  await over;

  expect(transport.trouble).toBe('does not read what it is sent');
  expect(sent).toBe(MAX_MESSAGE_BYTES / 1024 / 1024);
});

it('ends with a program that has closed its input', async () => {
  const { transport, messages, over } = await talkingTo(`exec <&-; echo '${JSON.stringify(ping)}'; sleep 1000`);
  while (messages.length === 0) await new Promise((resolve) => setImmediate(resolve));

  await transport.send(ping);
  await over;

  expect(transport.trouble).toBe('does not read what it is sent');
});

it('a program that cannot be started says so', async () => {
  const transport = new StdioTransport({ command: 'no-such-program', args: [], cwd: '/', env: {}, family });

  await transport.start();

  expect(transport.trouble).toBe('cannot be started (ENOENT)');
  await transport.close();
});

it('closing lets a program leave, and ends what does not', async () => {
  const polite = await talkingTo('cat > /dev/null; echo bye >&2');
  const rude = await talkingTo('trap "" TERM; sleep 1000; sleep 1000');

  await Promise.all([polite.transport.close(), rude.transport.close()]);

  expect([polite.transport.trouble, rude.transport.trouble]).toEqual([undefined, undefined]);
});
