import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { NO_RETRY, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import {
  apis,
  type ConfiguredProviders,
  configureProviders,
  OWN_KEY,
  providerOf,
} from '../../support/providers/configured-providers.ts';
import type { Api, ProviderDouble } from '../../support/providers/provider-double.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function openConfigured(api: Api, options: Parameters<typeof configureProviders>[1] = {}) {
  const user = await configureProviders([api], options);
  const agent = await openTestAgent('stdio', {
    home: user.home,
    env: OWN_KEY,
    args: ['--model', `${providerOf(api)}/m`, '--stream', 'delta'],
  });
  return { ...agent, double: user.doubles[0] as ProviderDouble };
}

const assistantMessages = ({ records }: Peer) =>
  records.flatMap(({ type, message }) => {
    const assistant = message as { role: string; stopReason: string } | undefined;
    return type === 'message_end' && assistant?.role === 'assistant' ? [assistant] : [];
  });

describe.each(apis.map((api) => [api.name, api] as const))('%s configured by models.json only', (_name, api) => {
  it('[L27 L33] streams text and thinking, and counts tokens and cost', async () => {
    const { peer, double } = await openConfigured(api);
    double.respondWith({ thinking: 'hm', text: 'Hello!', usage: { input: 1000, output: 100, cacheRead: 500 } });

    await peer.run('hi');

    const [assistant] = assistantMessages(peer);
    expect(assistant).toMatchObject({
      provider: providerOf(api),
      model: 'm',
      stopReason: 'stop',
      usage: { input: 1000, output: 100, cacheRead: 500, totalTokens: 1600 },
    });
    expect(assistant).toMatchObject({ usage: { cost: { total: expect.closeTo(0.00125, 9) } } });
    expect(JSON.stringify(assistant)).toContain('"thinking":"hm"');
    const { tokens, cost } = await peer.ok({ type: 'get_session_stats' });
    expect({ tokens, cost }).toMatchObject({ tokens: { total: 1600 }, cost: expect.closeTo(0.00125, 9) });
    expect((await double.request(0)).text).not.toContain('a-secret-key');
  });

  it('[L33] runs two tools of one assistant message and sends their results', async () => {
    const { peer, double, home } = await openConfigured(api);
    writeFileSync(join(home.cwd, 'a.txt'), 'first file');
    double.respondWith(
      {
        text: 'Let me look.',
        calls: [
          { id: 'call_1', name: 'read', arguments: { path: 'a.txt' } },
          { id: 'call_2', name: 'bash', arguments: { command: 'echo from the shell' } },
        ],
      },
      { text: 'Both are there.' },
    );

    await peer.run('look');

    expect(assistantMessages(peer).map(({ stopReason }) => stopReason)).toEqual(['toolUse', 'stop']);
    const { text } = await double.request(1);
    expect(text).toContain('first file');
    expect(text).toContain('from the shell');
  });

  it('[L33] sends images of prompts and of tools', async () => {
    const { peer, double, home } = await openConfigured(api);
    writeFileSync(join(home.cwd, 'a.png'), Buffer.from(PIXEL, 'base64'));
    double.respondWith(
      { calls: [{ id: 'call_1', name: 'read', arguments: { path: 'a.png' } }] },
      { text: 'I have seen both.' },
    );

    await peer.run({ message: 'look', images: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] });

    expect((await double.request(0)).text.split(PIXEL)).toHaveLength(2);
    expect((await double.request(1)).text.split(PIXEL)).toHaveLength(3);
  });

  it('[L33] closes the request when the run is aborted', async () => {
    const { peer, double } = await openConfigured(api);
    double.respondWith({ text: 'never ends', stallAfter: 2 });
    await peer.ok({ type: 'prompt', message: 'go' });
    const { closed } = await double.request(0);

    await peer.ok({ type: 'abort' });
    await closed;

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted', aborted: true });
  });

  it('[L33] reports the error text of the server', async () => {
    const { peer, double } = await openConfigured(api);
    double.respondWith({ status: 401, message: 'This key is not valid' });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      outcome: 'error',
      errorCode: 'auth_failed',
      errorMessage: expect.stringMatching(/^401 .*This key is not valid/),
    });
    expect(double.requests).toHaveLength(1);
  });

  it('[E15] each kind of failure has its own code, and an empty response is one', async () => {
    const { peer, double } = await openConfigured(api, { settings: NO_RETRY });
    double.respondWith(
      { status: 401, message: 'Wrong key' },
      { status: 402, message: 'Pay first' },
      { status: 429, message: 'Slow down' },
      { status: 500, message: 'Broken' },
      { text: '' },
      { text: 'this breaks off', cutAfter: 2 },
      { text: 'Fine.' },
    );

    const ends = [];
    for (let count = 0; count < 7; count++) ends.push((await peer.run('go')).at(-1));

    expect(ends.map((end) => end?.['errorCode'] ?? end?.['outcome'])).toEqual([
      'auth_failed',
      'payment_required',
      'rate_limited',
      'model_error',
      'empty_answer',
      'connection_lost',
      'ok',
    ]);
    for (const end of ends.slice(0, 6)) expect(end).toMatchObject({ type: 'agent_settled', outcome: 'error' });
  });

  it('[E16] the end of a failed run has the HTTP status and the delay that the server required', async () => {
    const { peer, double } = await openConfigured(api, { settings: NO_RETRY });
    double.respondWith(
      { status: 429, message: 'Slow down', headers: { 'retry-after': '90' } },
      { status: 503, message: 'Busy' },
      { text: 'this breaks off', cutAfter: 2 },
      { text: 'Fine.' },
    );

    const ends = [];
    for (let count = 0; count < 4; count++) ends.push((await peer.run('go')).at(-1));

    expect(ends.map((end) => [end?.['outcome'], end?.['httpStatus'], end?.['retryAfterMs']])).toEqual([
      ['error', 429, 90_000],
      ['error', 503, undefined],
      ['error', undefined, undefined],
      ['ok', undefined, undefined],
    ]);
  });

  it('[E15] an empty response is retried, and one after tools ends the run well', async () => {
    const { peer, double } = await openConfigured(api, { settings: { retry: { baseDelayMs: 1, maxRetries: 2 } } });
    double.respondWith(
      { text: ' \n' },
      { calls: [{ id: 'call_1', name: 'bash', arguments: { command: 'true' } }] },
      { text: '' },
    );

    const records = await peer.run('go');

    expect(records.find(({ type }) => type === 'auto_retry_start')).toMatchObject({
      errorMessage: 'The model returned an empty response',
    });
    expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
    expect(double.requests).toHaveLength(3);
  });

  it('[Y2 Y4 Y5 Y7] retries after an overload, a rate limit, an interrupted stream and a stall', async () => {
    const { peer, double } = await openConfigured(api, {
      settings: { retry: { baseDelayMs: 1, maxRetries: 4 }, stall: { betweenMs: 100, firstByteMs: 5000 } },
    });
    double.respondWith(
      { status: 529, message: 'Overloaded' },
      { status: 429, message: 'Slow down', headers: { 'retry-after-ms': '2' } },
      { text: 'this breaks off', cutAfter: 2 },
      { text: 'this falls silent', stallAfter: 2 },
      { text: 'At last.' },
    );

    await peer.run('go');

    const attempts = peer.records.flatMap(({ type, attempt }) => (type === 'auto_retry_start' ? [attempt] : []));
    expect(attempts).toEqual([1, 2, 3, 4]);
    expect(peer.records.filter(({ type }) => type === 'auto_retry_end')).toEqual([
      { type: 'auto_retry_end', success: true, attempt: 4 },
    ]);
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ outcome: 'ok' }]);
    const bodies = double.requests.map(({ text }) => text);
    expect(new Set(bodies).size).toBe(1);
  });

  it('[K9 K13] compacts after a context overflow error and calls the model again', async () => {
    const { peer, double } = await openConfigured(api, {
      settings: { retry: { baseDelayMs: 1 }, compaction: { keepRecentTokens: 100 } },
    });
    double.respondWith({ text: 'One. '.repeat(50) }, { text: 'Two. '.repeat(50) });
    await peer.run('first');
    await peer.run('second '.repeat(100));
    double.respondWith(
      { status: 400, message: 'prompt is too long: 200001 tokens > 200000 maximum' },
      { text: '## Goal\nTo count.' },
      { text: 'Three.' },
    );

    await peer.run('third');

    const types = peer.records.map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('compaction'))).toEqual(['compaction_start', 'compaction_end']);
    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    const last = double.requests.at(-1)?.text ?? '';
    expect(last).toContain('To count.');
    expect(last).not.toContain('One. One.');
  });
});

it.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
] as const)('[L33] a response compressed with %s without a request for it is decoded', async (encoding, compress) => {
  const { peer, double } = await openConfigured(apis[1] as Api);
  const body = compress('{"error":{"message":"No such thing"}}');
  double.respondWith({ status: 404, body, headers: { 'content-encoding': encoding } });

  await peer.run('hi');

  expect(await waitUntilSettled(peer)).toMatchObject({ errorMessage: '404 No such thing' });
});

it('[P42] a prompt whose process was killed during a retry delay runs when it is sent again', async () => {
  const api = apis[1] as Api;
  const { home, doubles } = await configureProviders([api], { settings: { retry: { baseDelayMs: 60_000 } } });
  const double = doubles[0] as ProviderDouble;
  const args = ['--model', `${providerOf(api)}/m`, '--session-id', 'kept'];
  const first = await openTestAgent('stdio', { home, env: OWN_KEY, args });
  double.respondWith({ status: 529, message: 'Overloaded' }, { text: 'At last.' });
  await first.peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1' });
  await first.peer.next('auto_retry_start');
  first.process?.kill('SIGKILL');
  await first.process?.exited;

  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args });
  expect(await peer.ok({ type: 'prompt', message: 'go', clientMessageId: 'c1' })).toMatchObject({
    disposition: 'started',
    duplicate: true,
  });

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
});

it('[Z40] an API key quoted in an error of the server is redacted', async () => {
  const { peer, double, sessionFiles: files } = await openConfigured(apis[1] as Api);
  double.respondWith({ status: 401, message: 'Invalid key: Bearer a-secret-key' });

  await peer.run('hi');

  expect(await waitUntilSettled(peer)).toMatchObject({
    errorMessage: expect.stringMatching(/^401 Invalid key: Bearer …/),
  });
  expect(JSON.stringify(peer.records)).not.toContain('a-secret-key');
  expect(readFileSync(files()[0] ?? '', 'utf8')).not.toContain('a-secret-key');
});

it('[K7] a conversation from a large model is summarised in parts for a small one', async () => {
  const api = apis[1] as Api;
  const { home, doubles } = await configureProviders([api]);
  const double = doubles[0] as ProviderDouble;
  const path = join(home.agentDir, 'models.json');
  const file = JSON.parse(readFileSync(path, 'utf8'));
  file.providers[providerOf(api)].models.push({ id: 'small', contextWindow: 8000, maxTokens: 1000 });
  writeFileSync(path, JSON.stringify(file));
  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--model', `${providerOf(api)}/m`] });
  for (let count = 0; count < 10; count++) {
    double.respondWith({ text: 'Read.' });
    await peer.run('word '.repeat(800));
  }
  await peer.ok({ type: 'set_model', provider: providerOf(api), modelId: 'small' });
  double.respondWith(...Array.from({ length: 12 }, () => ({ text: '## Goal\nTo read words.' })));

  await peer.run('go on');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  const requestLengths = double.requests.slice(10).map(({ text }) => text.length);
  expect(requestLengths.length).toBeGreaterThan(2);
  expect(Math.max(...requestLengths)).toBeLessThan(8000 * 4);
});

it('[L27] a session continues with a model id that tau does not list', async () => {
  const api = apis[0] as Api;
  const { home, doubles } = await configureProviders([api]);
  const double = doubles[0] as ProviderDouble;
  const providers = { anthropic: { baseUrl: double.url, apiKey: '$OWN_KEY' } };
  writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify({ providers }));
  const first = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--model', 'anthropic/claude-new-9'] });
  double.respondWith({ text: 'one' }, { text: 'two' });
  await first.peer.run('hi');
  await first.close();

  const { peer } = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--continue'] });
  await peer.run('and again');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(double.requests.map(({ body }) => body.model)).toEqual(['claude-new-9', 'claude-new-9']);
});

it('[L32] a conversation continues over three servers through retry, stall and overflow, and a new process sends identical requests', async () => {
  const [first, second, third] = apis as unknown as [Api, Api, Api];
  const user: ConfiguredProviders = await configureProviders([first, second, third], {
    settings: {
      retry: { baseDelayMs: 1 },
      stall: { betweenMs: 200, firstByteMs: 5000 },
      compaction: { keepRecentTokens: 300 },
    },
  });
  const [one, two, three] = user.doubles as [ProviderDouble, ProviderDouble, ProviderDouble];
  const { home } = user;
  const args = ['--model', `${providerOf(first)}/m:low`, '--stream', 'delta'];
  const { peer, close } = await openTestAgent('stdio', { home, env: OWN_KEY, args });
  writeFileSync(join(home.cwd, 'a.txt'), 'what the file says');
  const call = (id: string) => ({ id, name: 'read', arguments: { path: 'a.txt' } });

  one.respondWith(
    { thinking: 'I should read it.', calls: [call('toolu_1')] },
    { status: 529, message: 'Overloaded' },
    { text: 'It is read. '.repeat(20) },
  );
  await peer.run('read a.txt');
  await peer.ok({ type: 'set_model', provider: providerOf(second), modelId: 'm' });
  two.respondWith({ text: 'begun', stallAfter: 2 }, { calls: [call('call_2')] }, { text: 'Read again. '.repeat(50) });
  await peer.run('and again '.repeat(100));
  await peer.ok({ type: 'set_model', provider: providerOf(third), modelId: 'm' });
  three.respondWith(
    { status: 400, message: 'This model’s maximum context length is 100000 tokens (context_length_exceeded)' },
    { text: '## Goal\nTo read a file.' },
    { thinking: 'Once more.', calls: [call('call_3')] },
    { text: 'A third time.' },
  );
  await peer.run('once more');
  const runs = peer.records.filter(({ type }) => type === 'agent_settled');
  await close();

  expect(runs).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }, { outcome: 'ok' }]);

  // Two processes that read the same file send the same first request.
  const file = sessionFiles(home)[0] ?? '';
  const copy = readFileSync(file);
  const sendTwoPrompts = async () => {
    const again = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--session', file, '--stream', 'delta'] });
    three.respondWith({ text: 'fourth' }, { text: 'fifth' });
    await again.peer.run('go on');
    await again.peer.run('and on');
    await again.close();
    const [early, late] = three.requests.slice(-2).map(({ text }) => text);
    return { early, late };
  };
  const { early, late } = await sendTwoPrompts();
  const later = readFileSync(file);
  writeFileSync(file, copy);
  expect((await sendTwoPrompts()).early).toBe(early);

  // The second request of a running process equals the first one of a process that reads the file.
  writeFileSync(file, `${later.toString('utf8').split('\n').slice(0, linesUntil(later, '"and on"')).join('\n')}\n`);
  const last = await openTestAgent('stdio', { home, env: OWN_KEY, args: ['--session', file, '--stream', 'delta'] });
  three.respondWith({ text: 'fifth' });
  await last.peer.run('and on');
  expect(three.requests.at(-1)?.text).toBe(late);
});

/** The number of lines of a session before the first one that contains this text. */
const linesUntil = (file: Buffer, text: string) =>
  file
    .toString('utf8')
    .split('\n')
    .findIndex((line) => line.includes(text));
