import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import { fakeCommands } from '../../support/providers/fake-commands.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';
import { sdkCompletions } from '../../support/providers/sdk-completions.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const usageOf = {
  v2: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
  v3: { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 2 } },
  v4: { inputTokens: { total: 1, noCache: 1 }, outputTokens: { total: 2 } },
};
const versions = ['v2', 'v3', 'v4'] as const;
type Version = (typeof versions)[number];

const finish = (version: Version, unified = 'stop', raw?: string) => ({
  type: 'finish',
  finishReason: version === 'v2' ? unified : { unified, raw },
  usage: usageOf[version],
});

/** An agent whose model is the package hand-made/cloud, which plays one list of parts per call. */
async function openHandMade(version: Version, answers: readonly (readonly object[])[], own: object = {}) {
  const home = homeWithFiles({
    models: {
      providers: {
        made: {
          api: 'ai-sdk:@hand/made/cloud',
          models: [{ id: 'm', reasoning: true, input: ['text', 'image'], ...own }],
        },
      },
    },
    settings: { retry: { baseDelayMs: 1 }, stall: { firstByteMs: 60_000, betweenMs: 60_000 } },
  });
  const folder = join(home.agentDir, 'node_modules/@hand/made');
  const calls = join(home.root, 'calls.jsonl');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ name: '@hand/made', type: 'module', exports: { './cloud': './cloud.js' } }),
  );
  writeFileSync(
    join(folder, 'cloud.js'),
    `import { appendFileSync } from 'node:fs';
     const answers = ${JSON.stringify(answers)};
     const doStream = async ({ prompt, reasoning, providerOptions }) => {
       appendFileSync(${JSON.stringify(calls)}, JSON.stringify({ prompt, reasoning, providerOptions }) + '\\n');
       return { stream: ReadableStream.from(answers.shift() ?? []) };
     };
     export const createMade = () => ({ languageModel: () => ({ specificationVersion: '${version}', doStream }) });`,
  );
  const agent = await openTestAgent('stdio', { home, args: ['--model', 'made/m:high'] });
  const requests = () =>
    readFileSync(calls, 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  return { ...agent, requests };
}

describe.each(versions)('a package with version %s of the provider interface', (version) => {
  it('[L90] is named with a path inside it and without a baseUrl, and sees images', async () => {
    const { peer, requests } = await openHandMade(version, [
      [{ type: 'text-delta', id: '1', delta: 'Hello.' }, finish(version)],
    ]);

    await peer.run({ message: 'hi', images: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] });

    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    const data = version === 'v4' ? { type: 'data', data: PIXEL } : PIXEL;
    expect(requests()[0].prompt.at(-1).content).toContainEqual({ type: 'file', mediaType: 'image/png', data });
    expect(await peer.ok({ type: 'get_session_stats' })).toMatchObject({ tokens: { input: 1, output: 2 } });
  });

  it('[L92] gets the signatures of its thinking back, and unknown parts are passed over', async () => {
    const signature = { made: { signature: 'sealed' } };
    const { peer, requests } = await openHandMade(version, [
      [
        { type: 'ping' },
        { type: 'reasoning-start', id: 'r' },
        { type: 'reasoning-delta', id: 'r', delta: 'Hm.' },
        { type: 'reasoning-end', id: 'r', providerMetadata: signature },
        { type: 'reasoning-file', mediaType: 'image/png', data: { type: 'data', data: PIXEL } },
        { type: 'a-part-of-tomorrow', id: 'x' },
        { type: 'text-delta', id: '1', delta: 'One.' },
        finish(version),
      ],
      [{ type: 'text-delta', id: '1', delta: 'Two.' }, finish(version)],
    ]);

    await peer.run('first');
    await peer.run('second');

    expect(assistantTexts(peer.records)).toEqual(['One.', 'Two.']);
    const [, assistant] = requests()[1].prompt.filter(({ role }: { role: string }) => role !== 'system');
    expect(assistant.content).toEqual([
      { type: 'reasoning', text: 'Hm.', providerOptions: signature },
      { type: 'text', text: 'One.' },
    ]);
  });
});

it('[L91] a package of version 4 gets the thinking level by name, one of version 3 none that it does not understand', async () => {
  const answer = (version: Version) => [[{ type: 'text-delta', id: '1', delta: 'Hm.' }, finish(version)]];
  const latest = await openHandMade('v4', answer('v4'));
  const older = await openHandMade('v3', answer('v3'));

  await latest.peer.run('hi');
  await older.peer.run('hi');

  expect(latest.requests()[0]).toMatchObject({ reasoning: 'high', providerOptions: {} });
  expect(older.requests()[0]).not.toHaveProperty('reasoning');
});

it('[L92] an interrupted answer is retried and never counts as an end', async () => {
  const { peer } = await openHandMade('v4', [
    [{ type: 'text-delta', id: '1', delta: 'Half' }, finish('v4', 'interrupted')],
    [{ type: 'text-delta', id: '1', delta: 'Whole.' }, finish('v4')],
  ]);

  await peer.run('hi');

  expect(await waitUntilSettled(peer)).toMatchObject({ outcome: 'ok' });
  expect(peer.records.find(({ type }) => type === 'auto_retry_start')).toMatchObject({
    errorMessage: 'The stream ended before the answer did',
  });
  expect(assistantTexts(peer.records).at(-1)).toBe('Whole.');
});

it('[L93] requests of a package pass the proxy of the environment, and carry its thinking options', async () => {
  const double = await ProviderDouble.start(sdkCompletions);
  const home = homeWithFiles({
    models: {
      providers: {
        own: {
          baseUrl: 'http://models.invalid/v1',
          api: sdkCompletions.name,
          models: [{ id: 'm', reasoning: true }],
        },
      },
    },
  });
  const { peer } = await openTestAgent('stdio', {
    home,
    env: { HTTP_PROXY: double.url },
    args: ['--model', 'own/m:high'],
  });
  double.respondWith({ text: 'through the proxy' });

  await peer.run('hi');

  expect(assistantTexts(peer.records)).toEqual(['through the proxy']);
  const { path, body } = await double.request(0);
  expect(path).toBe('http://models.invalid/v1/chat/completions');
  expect(body).toMatchObject({ reasoning_effort: 'high' });
});

describe('[L102] a package of a cloud', () => {
  /** An agent with a package that answers with its settings and the credential that a function of them gives. */
  async function openPackage(name: string, provider: object, env: Record<string, string>) {
    const home = homeWithFiles({
      models: { providers: { own: { api: `ai-sdk:@ai-sdk/${name}`, models: [{ id: 'm' }], ...provider } } },
    });
    const commands = fakeCommands(home);
    const folder = join(home.agentDir, 'node_modules/@ai-sdk', name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{"type":"module","exports":"./main.js"}');
    writeFileSync(
      join(folder, 'main.js'),
      `export const createIt = ({ fetch, headers, includeUsage, name, ...settings }) => () => ({
         specificationVersion: 'v4',
         async doStream() {
           const credential = await (settings.tokenProvider ?? settings.credentialProvider)?.();
           const delta = JSON.stringify({ ...settings, credential });
           return { stream: ReadableStream.from([
             { type: 'text-delta', id: '1', delta },
             { type: 'finish', finishReason: { unified: 'stop' }, usage: { inputTokens: {}, outputTokens: {} } },
           ]) };
         },
       });`,
    );
    const { peer } = await openTestAgent('stdio', {
      home,
      env: { ...commands.env, ...env },
      args: ['--model', 'own/m'],
    });
    const settings = async () => {
      await peer.run('hi');
      return JSON.parse(assistantTexts(peer.records).at(-1) ?? '');
    };
    return { commands, settings };
  }

  it('gets the address and a token of Entra ID for Azure, never a key beside it', async () => {
    const env = { AZURE_OPENAI_RESOURCE_NAME: 'mine', AZURE_OPENAI_API_KEY: 'a-key' };
    const { commands, settings } = await openPackage('azure', { credentials: 'entra' }, env);
    commands.write('az', `echo '{"accessToken":"entra-token","expires_on":4102444800}'`);

    expect(await settings()).toEqual({
      baseURL: 'https://mine.openai.azure.com/openai/v1',
      credential: 'entra-token',
    });
  });

  it('gets the region and the keys of a profile for Bedrock', async () => {
    const { commands, settings } = await openPackage(
      'amazon-bedrock',
      {},
      { AWS_PROFILE: 'work', AWS_REGION: 'eu-west-1' },
    );
    commands.write('aws', `echo '{"AccessKeyId":"id","SecretAccessKey":"key","SessionToken":"token"}'`);

    expect(await settings()).toEqual({
      region: 'eu-west-1',
      credential: { accessKeyId: 'id', secretAccessKey: 'key', sessionToken: 'token' },
    });
  });

  it.each([
    [
      'google-vertex',
      { GCLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'global', GOOGLE_APPLICATION_CREDENTIALS: '/key.json' },
      { project: 'p', location: 'global', googleAuthOptions: { keyFilename: '/key.json' } },
    ],
    ['google-vertex', { GOOGLE_CLOUD_API_KEY: 'a-key' }, { apiKey: 'a-key' }],
    [
      'azure',
      { AZURE_OPENAI_API_KEY: 'a-key', AZURE_OPENAI_API_VERSION: 'preview' },
      { apiKey: 'a-key', apiVersion: 'preview' },
    ],
    ['mistral', { MISTRAL_API_KEY: 'a-key' }, { apiKey: 'a-key' }],
  ])('gets the variables of %s', async (name, env, expected) => {
    const { settings } = await openPackage(name, {}, env);

    expect(await settings()).toEqual(expected);
  });
});
