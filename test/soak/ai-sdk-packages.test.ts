import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assistantTexts } from '../support/agent/run-records.ts';
import { openTestAgent } from '../support/agent/test-agent.ts';
import { homeWithFiles } from '../support/agent/user-files.ts';
import { BedrockDouble, claudeFrames, converseFrames, isSigned } from '../support/providers/bedrock.ts';
import { fakeCommands } from '../support/providers/fake-commands.ts';
import { googleApi } from '../support/providers/google-generative-ai.ts';
import { mistralApi } from '../support/providers/mistral.ts';
import { responsesApi } from '../support/providers/openai-responses.ts';
import { ProviderDouble } from '../support/providers/provider-double.ts';
import { sdkCompletions } from '../support/providers/sdk-completions.ts';

// Both generations of the packages; npm installs them once, in a folder for temporary files.
const generations: readonly (readonly [name: string, packages: readonly string[]])[] = [
  ['version 3', ['amazon-bedrock@4', 'azure@3', 'google-vertex@4', 'mistral@3']],
  ['version 4', ['amazon-bedrock@5', 'azure@4', 'google-vertex@5', 'mistral@4']],
];

function install(name: string, packages: readonly string[]): string {
  const folder = join(tmpdir(), 'tau-ai-sdk-packages', name.replace(' ', '-'));
  if (!existsSync(join(folder, 'node_modules/@ai-sdk/mistral'))) {
    mkdirSync(folder, { recursive: true });
    const names = packages.map((one) => `@ai-sdk/${one}`);
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...names], { stdio: 'ignore' });
  }
  return join(folder, 'node_modules');
}

interface OpenOptions {
  readonly modules: string | undefined;
  readonly api: string;
  readonly provider: object;
  readonly env?: Record<string, string>;
}

async function openWith({ modules, api, provider, env = {} }: OpenOptions) {
  const home = homeWithFiles({
    models: { providers: { own: { api: `ai-sdk:${api}`, models: [{ id: 'm-1', reasoning: true }], ...provider } } },
  });
  if (modules !== undefined) symlinkSync(modules, join(home.agentDir, 'node_modules'));
  const commands = fakeCommands(home);
  const agent = await openTestAgent('stdio', {
    home,
    env: { ...commands.env, ...env },
    args: ['--model', 'own/m-1:high'],
  });
  return { ...agent, commands };
}

it('the package that comes with the tests answers', async () => {
  const double = await ProviderDouble.start(sdkCompletions);
  const { peer } = await openWith({
    modules: undefined,
    api: '@ai-sdk/openai-compatible',
    provider: { baseUrl: double.url },
  });
  double.respondWith({ text: 'Hello.' });

  await peer.run('hi');

  expect(assistantTexts(peer.records)).toEqual(['Hello.']);
});

const keys = { accessKeyId: 'AKIDTEST', secretAccessKey: 'secret-access-key', sessionToken: 'from-sso' };
const exported = JSON.stringify({
  AccessKeyId: keys.accessKeyId,
  SecretAccessKey: keys.secretAccessKey,
  SessionToken: keys.sessionToken,
  Expiration: new Date(Date.now() + 3_600_000).toISOString(),
});

describe.each(process.env['SOAK'] ? generations : [])('packages of %s', (...generation) => {
  it.each([
    ['@ai-sdk/amazon-bedrock', converseFrames],
    ['@ai-sdk/amazon-bedrock/anthropic', claudeFrames],
  ])('%s signs its requests with the keys of a profile', async (api, frames) => {
    const double = await BedrockDouble.start();
    const { peer, commands } = await openWith({
      modules: install(...generation),
      api,
      provider: { baseUrl: double.url, credentials: 'aws' },
      env: { AWS_PROFILE: 'work', AWS_REGION: 'eu-west-1' },
    });
    commands.write('aws', `echo '${exported}'`);
    double.respondWith({ frames: frames({ text: 'Hello.' }) });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    expect(double.requests.map((request) => isSigned(request, keys, 'eu-west-1'))).toEqual([true]);
  });

  it('@ai-sdk/azure sends a token of Entra ID to the address of the environment', async () => {
    const double = await ProviderDouble.start(responsesApi);
    const { peer, commands } = await openWith({
      modules: install(...generation),
      api: '@ai-sdk/azure',
      provider: { credentials: 'entra' },
      env: { AZURE_OPENAI_BASE_URL: `${double.url}/openai/v1` },
    });
    commands.write('az', `echo '{"accessToken":"entra-token","expires_on":${Math.floor(Date.now() / 1000) + 3600}}'`);
    double.respondWith({ thinking: 'Hm.', text: 'Hello.' });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    expect(await double.request(0)).toMatchObject({
      path: '/openai/v1/responses',
      headers: { authorization: 'Bearer entra-token' },
      body: { model: 'm-1' },
    });
  });

  it('@ai-sdk/google-vertex takes the key of the environment', async () => {
    const double = await ProviderDouble.start(googleApi);
    const { peer } = await openWith({
      modules: install(...generation),
      api: '@ai-sdk/google-vertex',
      provider: { baseUrl: double.url },
      env: { GOOGLE_CLOUD_API_KEY: 'vertex-key' },
    });
    double.respondWith({ text: 'Hello.' });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    expect((await double.request(0)).headers).toMatchObject({ 'x-goog-api-key': 'vertex-key' });
  });

  it('@ai-sdk/mistral answers with thinking', async () => {
    const double = await ProviderDouble.start(mistralApi);
    const { peer } = await openWith({
      modules: install(...generation),
      api: '@ai-sdk/mistral',
      provider: { baseUrl: `${double.url}/v1` },
      env: { MISTRAL_API_KEY: 'mistral-key' },
    });
    double.respondWith({ thinking: 'Hm.', text: 'Hello.' });

    await peer.run('hi');

    expect(assistantTexts(peer.records)).toEqual(['Hello.']);
    expect(JSON.stringify(peer.records)).toContain('"thinking":"Hm."');
    expect((await double.request(0)).headers).toMatchObject({ authorization: 'Bearer mistral-key' });
  });
});
