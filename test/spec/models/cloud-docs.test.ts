import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { environment, type Home, TAU } from '../../support/agent/test-agent.ts';
import { homeWithFiles } from '../../support/agent/user-files.ts';
import { anthropicApi } from '../../support/providers/anthropic-messages.ts';
import { BedrockDouble, claudeFrames } from '../../support/providers/bedrock.ts';
import { completions } from '../../support/providers/completions.ts';
import { type FakeCommands, fakeCommands } from '../../support/providers/fake-commands.ts';
import { googleApi } from '../../support/providers/google-generative-ai.ts';
import { mistralApi } from '../../support/providers/mistral.ts';
import { responsesApi } from '../../support/providers/openai-responses.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

const docs = `\n${readFileSync(join(import.meta.dirname, '../../../docs/clouds.md'), 'utf8')}`;

interface Steps {
  /** The variables that the steps export. */
  readonly env: Record<string, string>;
  /** The arguments of the command that the steps run. */
  readonly args: readonly string[];
  /** The files that the steps show, as objects. */
  readonly json: readonly Record<string, object>[];
}

/** The blocks below a heading of docs/clouds.md, up to the next one of the same level. */
function stepsOf(heading: string): Steps {
  const level = heading.replace(/ .*/, '');
  const [, section = ''] = docs.split(`\n${heading}\n`);
  const own = section.split(new RegExp(`\\n${level} `))[0] ?? '';
  const blocks = [...own.matchAll(/```(\w+)\n([\s\S]*?)```/g)].map(([, language, text = '']) => ({ language, text }));
  const lines = blocks.flatMap(({ language, text }) => (language === 'sh' ? text.trim().split(/\n\s*/) : []));
  const exported = lines.flatMap((line) => /^export (\w+)=(.*)$/.exec(line)?.slice(1) ?? []);
  const env = Object.fromEntries(
    exported.flatMap((name, at) => (at % 2 === 0 ? [[name, exported[at + 1] ?? '']] : [])),
  );
  const [, ...args] = lines.find((line) => line.startsWith('tau '))?.split(' ') ?? [];
  const json = blocks.flatMap(({ language, text }) => (language === 'json' ? [JSON.parse(text)] : []));
  return { env, args, json };
}

/** Runs tau as the steps say; only the address is another. */
async function run({ env, args }: Pick<Steps, 'env' | 'args'>, home: Home, commands: FakeCommands): Promise<string> {
  const started = promisify(execFile)(process.execPath, [TAU, ...args], {
    cwd: home.cwd,
    env: environment(home, { ...commands.env, ...env }),
  });
  started.child.stdin?.end();
  return (await started).stdout;
}

const newHome = (models?: object) => {
  const home = homeWithFiles(models === undefined ? {} : { models });
  return { home, commands: fakeCommands(home) };
};

describe('[L103] the steps of docs/clouds.md', () => {
  it('for Azure with a key', async () => {
    const { env, args } = stepsOf('## Azure');
    const { AZURE_OPENAI_RESOURCE_NAME: name, ...others } = env;
    const double = await ProviderDouble.start(responsesApi);
    const { home, commands } = newHome();
    double.respondWith({ text: 'Hello from Azure.' });

    const answer = await run(
      { args, env: { ...others, AZURE_OPENAI_BASE_URL: `${double.url}/openai/v1` } },
      home,
      commands,
    );

    expect(name).toBe('my-resource');
    expect(answer).toContain('Hello from Azure.');
    expect(await double.request(0)).toMatchObject({
      path: '/openai/v1/responses',
      headers: { 'api-key': env['AZURE_OPENAI_API_KEY'] },
      body: { model: 'team-gpt' },
    });
  });

  it('for Azure without a key', async () => {
    const { args } = stepsOf('## Azure');
    const [models] = stepsOf('### Without a key: Entra ID').json;
    const double = await ProviderDouble.start(responsesApi);
    const { home, commands } = newHome(models);
    commands.write('az', `echo '{"accessToken":"entra-token","expires_on":${Math.floor(Date.now() / 1000) + 3600}}'`);
    double.respondWith({ text: 'Hello from Azure.' });

    const answer = await run({ args, env: { AZURE_OPENAI_BASE_URL: double.url } }, home, commands);

    expect(answer).toContain('Hello from Azure.');
    expect((await double.request(0)).headers).toMatchObject({ authorization: 'Bearer entra-token' });
  });

  it('for Bedrock with a profile', async () => {
    const { env, args } = stepsOf('## Amazon Bedrock');
    const double = await BedrockDouble.start();
    const { home, commands } = newHome();
    commands.write('aws', `echo '{"AccessKeyId":"AKIDTEST","SecretAccessKey":"secret","SessionToken":"session"}'`);
    double.respondWith({ frames: claudeFrames({ text: 'Hello from Bedrock.' }) });

    const answer = await run({ args, env: { ...env, AWS_ENDPOINT_URL_BEDROCK_RUNTIME: double.url } }, home, commands);

    expect(answer).toContain('Hello from Bedrock.');
    expect(commands.calls()).toEqual(['aws configure export-credentials --profile work --format process']);
    expect(double.requests[0]?.headers.authorization).toMatch(/Credential=AKIDTEST\/\d{8}\/eu-central-1\/bedrock\//);
  });

  it('for Vertex with Gemini, and with Claude in models.json', async () => {
    const { env, args, json } = stepsOf('## Google Vertex AI');
    const [gemini, claude, issuer] = await Promise.all(
      [googleApi, anthropicApi, completions].map((api) => ProviderDouble.start(api)),
    );
    if (!gemini || !claude || !issuer) throw new Error('A double did not start');
    const { home, commands } = newHome({ providers: { 'google-vertex': { baseUrl: gemini.url } } });
    const folder = join(home.root, '.config/gcloud');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'application_default_credentials.json'),
      JSON.stringify({
        type: 'authorized_user',
        client_id: 'a',
        client_secret: 'b',
        refresh_token: 'c',
        token_uri: issuer.url,
      }),
    );
    const token = { status: 200, body: JSON.stringify({ access_token: 'user-token', expires_in: 3599 }) };
    issuer.respondWith(token, token);
    gemini.respondWith({ text: 'Hello from Gemini.' });
    claude.respondWith({ text: 'Hello from Claude.' });

    const first = await run({ args, env }, home, commands);
    const described = json[0]?.['providers'] as Record<string, { models: { id: string }[] }>;
    const own = { ...described['google-vertex'], baseUrl: claude.url };
    writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify({ providers: { 'google-vertex': own } }));
    const id = own.models?.[0]?.id;
    const second = await run({ args: ['-p', '--model', `google-vertex/${id}`, 'hi'], env }, home, commands);

    expect([first.trim(), second.trim()]).toEqual(['Hello from Gemini.', 'Hello from Claude.']);
    expect((await gemini.request(0)).path).toMatch(
      /^\/v1\/projects\/my-project\/locations\/europe-west1\/publishers\/google/,
    );
    expect((await claude.request(0)).path).toMatch(
      /publishers\/anthropic\/models\/claude-sonnet-4-5@20250929:streamRawPredict$/,
    );
  });

  it('for Mistral', async () => {
    const { env, args } = stepsOf('## Mistral');
    const double = await ProviderDouble.start(mistralApi);
    const { home, commands } = newHome({ providers: { mistral: { baseUrl: double.url } } });
    double.respondWith({ text: 'Hello from Mistral.' });

    expect(await run({ args, env }, home, commands)).toContain('Hello from Mistral.');
    expect(await double.request(0)).toMatchObject({
      body: { model: 'mistral-medium-latest', reasoning_effort: 'high' },
    });
  });

  it('show files that are valid', async () => {
    const { json } = stepsOf('# Models in clouds');
    const { home } = newHome();
    const isAuth = (file: object) => !('providers' in file);
    const files = json.map((file) => [isAuth(file) ? 'auth.json' : 'models.json', JSON.stringify(file)] as const);

    for (const [name, text] of files) {
      writeFileSync(join(home.agentDir, name), text);
      const { stderr } = await promisify(execFile)(process.execPath, [TAU, '--list-models'], {
        cwd: home.cwd,
        env: environment(home, { COHERE_API_KEY: 'x' }),
      });
      expect([text, stderr]).toEqual([text, '']);
    }
    expect(files.length).toBeGreaterThan(3);
  });
});
