import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles, type UserFiles } from '../../support/agent/user-files.ts';
import {
  BedrockDouble,
  claudeFrames,
  converseFrames,
  exceptionFrame,
  isSigned,
} from '../../support/providers/bedrock.ts';
import { completions } from '../../support/providers/completions.ts';
import { fakeCommands } from '../../support/providers/fake-commands.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

const NOVA = 'us.amazon.nova-2-lite-v1:0';
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret-access-key' };
const keyVariables = { AWS_ACCESS_KEY_ID: keys.accessKeyId, AWS_SECRET_ACCESS_KEY: keys.secretAccessKey };

interface BedrockOptions {
  readonly model?: string;
  readonly env?: Record<string, string>;
  readonly files?: UserFiles;
}

async function openBedrock({ model = NOVA, env = {}, files = {} }: BedrockOptions = {}) {
  const double = await BedrockDouble.start();
  const home = homeWithFiles(files);
  const commands = fakeCommands(home);
  const agent = await openTestAgent('stdio', {
    home,
    env: { AWS_ENDPOINT_URL_BEDROCK_RUNTIME: double.url, ...commands.env, ...env },
    args: ['--model', `amazon-bedrock/${model}`],
  });
  return { ...agent, double, commands };
}

const BEARER = { AWS_BEARER_TOKEN_BEDROCK: 'bedrock-api-key' };
const retrying = { settings: { retry: { baseDelayMs: 1 } } };

describe('[L97] Bedrock', () => {
  it('streams thinking, text, calls and usage by Converse, however the frames are cut', async () => {
    const { peer, double, home } = await openBedrock({ model: `${NOVA}:high`, env: BEARER });
    writeFileSync(join(home.cwd, 'a.txt'), 'first file');
    double.respondWith(
      {
        frames: converseFrames({
          thinking: 'Hm, wär’ es so?',
          text: 'Looking.',
          calls: [{ id: 'tool:use/1', name: 'read', arguments: { path: 'a.txt' } }],
          usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2 },
        }),
        chunkBytes: 7,
      },
      { frames: converseFrames({ text: 'Done.', usage: { input: 1, output: 1 } }), chunkBytes: 1 },
    );

    await peer.run('look');

    expect(assistantTexts(peer.records)).toEqual(['Looking.', 'Done.']);
    const [first, second] = double.requests;
    expect(first).toMatchObject({
      path: `/model/${encodeURIComponent(NOVA)}/converse-stream`,
      headers: { authorization: 'Bearer bedrock-api-key' },
      body: {
        additionalModelRequestFields: { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'high' } },
        messages: [
          { role: 'user', content: [{ text: expect.stringContaining('look') }, { cachePoint: { type: 'default' } }] },
        ],
        system: [{ text: expect.any(String) }, { cachePoint: { type: 'default' } }],
      },
    });
    expect(second?.body.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm, wär’ es so?', signature: 'sealed' } } },
          { text: 'Looking.' },
          { toolUse: { name: 'read', input: { path: 'a.txt' } } },
        ],
      },
      { role: 'user', content: [{ toolResult: { status: 'success' } }, { cachePoint: {} }] },
    ]);
    expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({
      tokens: { input: 11, output: 6, cacheRead: 3, cacheWrite: 2 },
    });
  });

  it('calls Claude by its own API, with thinking that returns signed', async () => {
    const { peer, double } = await openBedrock({ model: `${CLAUDE}:low`, env: BEARER });
    double.respondWith(
      { frames: claudeFrames({ thinking: 'Hm.', text: 'One.', usage: { input: 4, output: 2 } }), chunkBytes: 11 },
      { frames: claudeFrames({ text: 'Two.' }) },
    );

    await peer.run('first');
    await peer.run('second');

    expect(assistantTexts(peer.records)).toEqual(['One.', 'Two.']);
    const [first, second] = double.requests;
    expect(first?.path).toBe(`/model/${encodeURIComponent(CLAUDE)}/invoke-with-response-stream`);
    expect(first?.body).toMatchObject({
      anthropic_version: 'bedrock-2023-05-31',
      anthropic_beta: ['interleaved-thinking-2025-05-14'],
      thinking: { type: 'enabled', budget_tokens: 2048 },
    });
    expect(first?.body).not.toHaveProperty('model');
    expect(first?.body).not.toHaveProperty('stream');
    expect(second?.body.messages[1].content[0]).toMatchObject({ type: 'thinking', thinking: 'Hm.' });
  });

  it('retries an exception in mid-stream by its kind, and a damaged frame', async () => {
    const { peer, double } = await openBedrock({ env: BEARER, files: retrying });
    const [head = Buffer.alloc(0), ...rest] = converseFrames({ text: 'Half' });
    const damaged = Buffer.from(head);
    damaged[damaged.length - 6] = (damaged[damaged.length - 6] ?? 0) ^ 1;
    double.respondWith(
      { frames: [head, ...rest.slice(0, 1), exceptionFrame('throttlingException', 'Too many tokens per day')] },
      { frames: [damaged] },
      { frames: [head, exceptionFrame('modelStreamErrorException', 'The model broke')] },
      { frames: converseFrames({ text: 'Whole.' }) },
    );

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
    const retries = peer.records.filter(({ type }) => type === 'auto_retry_start');
    expect(retries.map(({ errorMessage }) => errorMessage)).toEqual([
      'Too many tokens per day (throttlingException)',
      'The stream is damaged: a checksum of it is wrong',
      'The model broke (modelStreamErrorException)',
    ]);
    expect(assistantTexts(peer.records).at(-1)).toBe('Whole.');
  });

  it.each([
    ['validationException', 'The model does not support this', 'model_error'],
    ['validationException', 'Input is too long for requested model.', 'context_overflow'],
    ['accessDeniedException', 'You may not', 'model_error'],
  ])('reports %s: %s', async (type, message, errorCode) => {
    const { peer, double } = await openBedrock({
      env: BEARER,
      files: { settings: { retry: { baseDelayMs: 1 }, compaction: { enabled: false } } },
    });
    double.respondWith({ frames: [exceptionFrame(type, message)] });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({ errorCode, errorMessage: `${message} (${type})` });
    expect(double.requests).toHaveLength(1);
  });

  it('is offered as soon as its own conditions hold', async () => {
    const offered = async (env: Record<string, string>) => {
      const { peer } = await openTestAgent('stdio', { home: homeWithFiles({}), env });
      const { models } = await peer.ok({ type: 'get_available_models' });
      return models.some(({ provider }: { provider: string }) => provider === 'amazon-bedrock');
    };

    expect(await offered({})).toBe(false);
    expect(await offered({ AWS_ACCESS_KEY_ID: 'only-the-id' })).toBe(false);
    expect(await offered({ AWS_PROFILE: 'work' })).toBe(true);
    expect(await offered(keyVariables)).toBe(true);
    expect(await offered({ AWS_WEB_IDENTITY_TOKEN_FILE: '/token' })).toBe(true);
  });

  it('without credentials fails with the variables to set', async () => {
    const { peer } = await openTestAgent('stdio', { home: homeWithFiles({}) });

    expect(await peer.refused({ type: 'set_model', provider: 'amazon-bedrock', modelId: NOVA })).toMatchObject({
      error: expect.stringMatching(/^No API key found for amazon-bedrock\. Set AWS_PROFILE, AWS_BEARER_TOKEN_BEDROCK/),
    });
  });
});

describe('[L98] requests with keys of AWS', () => {
  it('are signed for the region, over the encoded path and the bytes that are sent', async () => {
    const { peer, double } = await openBedrock({
      env: { ...keyVariables, AWS_SESSION_TOKEN: 'session-token', AWS_REGION: 'eu-west-1' },
    });
    double.respondWith({ frames: converseFrames({ text: 'Grüße.' }) });

    await peer.run('Grüße, 世界');

    const [request] = double.requests;
    expect(request && isSigned(request, { ...keys, sessionToken: 'session-token' }, 'eu-west-1')).toBe(true);
    expect(request?.path).toContain('%3A');
  });

  it('use the region of an ARN', async () => {
    const arn = 'arn:aws:bedrock:us-west-2:123456789012:application-inference-profile/abc';
    const { peer, double } = await openBedrock({ model: arn, env: { ...keyVariables, AWS_REGION: 'eu-west-1' } });
    double.respondWith({ frames: converseFrames({ text: 'Hello.' }) });

    await peer.run('hi');

    const [request] = double.requests;
    expect(request && isSigned(request, keys, 'us-west-2')).toBe(true);
    expect(request?.path).toBe(`/model/${encodeURIComponent(arn)}/converse-stream`);
  });

  it('are signed again by the clock of the server, once', async () => {
    const { peer, double } = await openBedrock({ env: { ...keyVariables, AWS_REGION: 'us-east-1' } });
    const date = new Date(Date.now() + 3_600_000).toUTCString();
    const tooOld = { status: 403, message: 'Signature expired', headers: { date } };
    double.respondWith(tooOld, { frames: converseFrames({ text: 'Hello.' }) }, tooOld, tooOld);

    await peer.run('hi');
    await peer.run('hi');

    const [, second] = double.requests;
    expect(second && isSigned(second, keys, 'us-east-1')).toBe(true);
    expect(String(second?.headers['x-amz-date']).slice(0, 11)).toBe(
      new Date(date).toISOString().replaceAll('-', '').slice(0, 11),
    );
    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: '403 Signature expired',
    });
    expect(double.requests).toHaveLength(4);
  });
});

const exported = (own: object = {}) =>
  JSON.stringify({
    Version: 1,
    AccessKeyId: keys.accessKeyId,
    SecretAccessKey: keys.secretAccessKey,
    SessionToken: 'from-sso',
    Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    ...own,
  });
const ssoKeys = { ...keys, sessionToken: 'from-sso' };

describe('[L99] a profile of AWS', () => {
  it('gives its keys by the command aws, once for two requests; one of auth.json wins over keys of the process', async () => {
    const profile = { type: 'api_key', env: { AWS_PROFILE: 'wo$rk "x"' } };
    const { peer, double, commands } = await openBedrock({
      files: { auth: { 'amazon-bedrock': profile } },
      env: { ...keyVariables, ...BEARER, AWS_SESSION_TOKEN: 'of the process' },
    });
    commands.write('aws', `test -z "$AWS_ACCESS_KEY_ID" && echo '${exported()}'`);
    double.respondWith({ frames: converseFrames({ text: 'One.' }) }, { frames: converseFrames({ text: 'Two.' }) });

    await peer.run('hi');
    await peer.run('hi');

    expect(double.requests.map((request) => isSigned(request, ssoKeys, 'us-east-1'))).toEqual([true, true]);
    expect(commands.calls()).toEqual(['aws configure export-credentials --profile wo$rk "x" --format process']);
  });

  it('gives new keys when AWS reports that they have expired', async () => {
    const { peer, double, commands } = await openBedrock({ env: { AWS_PROFILE: 'work' } });
    commands.write('aws', `echo '${exported()}'`);
    const headers = { 'x-amzn-errortype': 'ExpiredTokenException:http://internal.amazon.com/' };
    double.respondWith(
      { status: 403, message: 'The security token from-sso is expired', headers },
      { frames: converseFrames({ text: 'Hello.' }) },
      { status: 403, message: 'from-sso is still expired', headers },
      { status: 403, message: 'from-sso is still expired', headers },
    );

    await peer.run('hi');
    await peer.run('hi');

    expect(commands.calls()).toHaveLength(3);
    expect(assistantTexts(peer.records)).toContain('Hello.');
    expect(await waitUntilSettled(peer)).toMatchObject({ errorMessage: '403 … is still expired' });
  });

  it.each([
    ['fails', 'echo leaked-secret; exit 255', 'ended with code 255'],
    ['prints rubbish', 'echo "{ leaked-secret"', 'printed no credentials that tau can read'],
    ['has expired keys', `echo '${exported({ Expiration: '2020-01-01T00:00:00Z' })}'`, 'expired: sign in again'],
  ])('whose command %s fails the run without what it printed', async (_what, script, reason) => {
    const { peer, double, commands, process } = await openBedrock({ env: { AWS_PROFILE: 'work' } });
    commands.write('aws', script);

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: expect.stringContaining(reason),
    });
    expect(double.requests).toEqual([]);
    expect(JSON.stringify(peer.records) + process?.stderr()).not.toMatch(/leaked-secret|secret-access-key/);
  });

  it('that takes long is abandoned by an abort', async () => {
    const { peer, double, commands } = await openBedrock({ env: { AWS_PROFILE: 'work' } });
    commands.write('aws', 'sleep 50');
    await peer.ok({ type: 'prompt', message: 'hi' });
    while (commands.calls().length === 0) await new Promise((resolve) => setImmediate(resolve));

    await peer.ok({ type: 'abort' });

    expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'aborted' });
    expect(double.requests).toEqual([]);
  });
});

describe('[L99] credentials of machines', () => {
  it('come from the address of a container, with its token', async () => {
    const issuer = await ProviderDouble.start(completions);
    issuer.respondWith({ status: 200, body: exported({ SessionToken: undefined, Token: 'from-sso' }) });
    const { peer, double } = await openBedrock({
      env: { AWS_CONTAINER_CREDENTIALS_FULL_URI: `${issuer.url}/role`, AWS_CONTAINER_AUTHORIZATION_TOKEN: 'let-me-in' },
    });
    double.respondWith({ frames: converseFrames({ text: 'Hello.' }) });

    await peer.run('hi');

    expect(await issuer.request(0)).toMatchObject({ path: '/role', headers: { authorization: 'let-me-in' } });
    expect(double.requests.map((request) => isSigned(request, ssoKeys, 'us-east-1'))).toEqual([true]);
  });

  it('are not requested in plain text from another machine', async () => {
    const { peer, double } = await openBedrock({
      env: {
        AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://credentials.invalid/role',
        AWS_CONTAINER_AUTHORIZATION_TOKEN: 'let-me-in',
      },
    });

    await peer.run('hi');

    expect(await waitUntilSettled(peer)).toMatchObject({
      errorCode: 'auth_failed',
      errorMessage: 'AWS_CONTAINER_CREDENTIALS_FULL_URI must be an https address, or one of this machine',
    });
    expect(double.requests).toEqual([]);
  });

  it('come from a web identity, whose token is posted', async () => {
    const issuer = await ProviderDouble.start(completions);
    const xml = Object.entries(JSON.parse(exported())).map(([name, value]) => `<${name}>${value}</${name}>`);
    issuer.respondWith({
      status: 200,
      body: `<R><Credentials>${xml.join('')}</Credentials></R>`,
      headers: { 'content-type': 'text/xml' },
    });
    const home = homeWithFiles({});
    const file = join(home.root, 'token');
    writeFileSync(file, 'identity-token\n');
    const { peer, double } = await openBedrock({
      env: {
        AWS_WEB_IDENTITY_TOKEN_FILE: file,
        AWS_ROLE_ARN: 'arn:aws:iam::1:role/r',
        AWS_ENDPOINT_URL_STS: issuer.url,
      },
    });
    double.respondWith({ frames: converseFrames({ text: 'Hello.' }) });

    await peer.run('hi');

    const { text } = await issuer.request(0);
    expect(Object.fromEntries(new URLSearchParams(text))).toMatchObject({
      Action: 'AssumeRoleWithWebIdentity',
      RoleArn: 'arn:aws:iam::1:role/r',
      WebIdentityToken: 'identity-token',
    });
    expect(double.requests.map((request) => isSigned(request, ssoKeys, 'us-east-1'))).toEqual([true]);
  });
});
