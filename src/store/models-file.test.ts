import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readModelsFile } from './models-file.ts';
import { tempFolder } from './testing/temp-folder.ts';

function read(content: string | Buffer | object) {
  const agentDir = tempFolder();
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(join(agentDir, 'models.json'), isText ? content : JSON.stringify(content));
  const { providers, problems } = readModelsFile(agentDir);
  return { providers: Object.fromEntries(providers), problems };
}

const url = 'http://localhost:1/v1';
const fine = { baseUrl: url, api: 'openai-completions', models: [{ id: 'm' }] };
const problemOf = (provider: unknown) => read({ providers: { fine, acme: provider } });

const apis = [
  'anthropic-messages',
  'openai-completions',
  'openai-responses',
  'openai-codex-responses',
  'google-generative-ai',
  'azure-openai-responses',
  'bedrock-converse-stream',
  'google-vertex',
  'mistral-conversations',
].join(', ');

describe('readModelsFile', () => {
  it('returns no providers when there is no file', () => {
    expect(readModelsFile(tempFolder())).toEqual({ providers: new Map(), problems: [] });
    expect(readModelsFile(join(tempFolder(), 'no', 'folder'))).toEqual({ providers: new Map(), problems: [] });
    expect(read({})).toEqual({ providers: {}, problems: [] });
  });

  it('reads every field that pi reads and keeps unknown ones', () => {
    const providers = {
      acme: {
        name: 'Acme',
        baseUrl: url,
        apiKey: '$ACME',
        api: 'anthropic-messages',
        headers: { 'X-Team': 'a' },
        authHeader: true,
        compat: { supportsStore: false },
        models: [
          {
            id: 'one',
            name: 'One',
            api: 'ai-sdk:@acme/provider',
            baseUrl: 'https://acme.test',
            reasoning: true,
            input: ['text', 'image'],
            cost: { input: 1, output: 2.5, cacheRead: 0, cacheWrite: 0, tiers: [] },
            contextWindow: 1000,
            maxTokens: 10,
            headers: {},
            compat: { deep: { er: [1] } },
            thinkingLevelMap: { off: null },
            promptCache: true,
          },
        ],
      },
      anthropic: { modelOverrides: { 'claude-x': { name: 'X', cost: { input: 1 } } } },
      openai: { baseUrl: 'https://proxy.test/', models: [] },
      google: { headers: { a: 'b' } },
      groq: { compat: {} },
      xai: { apiKey: '!pass xai' },
      'ollama/local': fine,
    };

    expect(read({ providers, $schema: 'x' })).toEqual({ providers, problems: [] });
  });

  it('reads comments and trailing commas', () => {
    const text = `{ // mine\n "providers": { "acme": ${JSON.stringify(fine)}, }, /* end */ }`;

    expect(read(text)).toEqual({ providers: { acme: fine }, problems: [] });
  });

  it.each([
    ['must be an object', 7],
    ['must be an object', null],
    ['must be an object', [fine]],
    ['.baseUrl must be a string', { ...fine, baseUrl: 1 }],
    ['.baseUrl must not be empty', { ...fine, baseUrl: '' }],
    ['.baseUrl must be an http or https URL, without a password', { ...fine, baseUrl: 'localhost:1/v1' }],
    ['.baseUrl must be an http or https URL, without a password', { ...fine, baseUrl: 'file:///etc/passwd' }],
    ['.baseUrl must be an http or https URL, without a password', { baseUrl: 'nonsense' }],
    ['.baseUrl is required for its models', { ...fine, baseUrl: undefined }],
    ['.api is required for its models', { ...fine, api: undefined }],
    [`.api must be one of ${apis}, ai-sdk:<package>`, { ...fine, api: 'telepathy' }],
    [
      `.models[0].api must be one of ${apis}, ai-sdk:<package>`,
      { ...fine, models: [{ id: 'm', api: 'ai-sdk:../evil' }] },
    ],
    ['.apiKey must be a string', { ...fine, apiKey: { key: 'sk-secret' } }],
    ['.apiKey must not be empty', { ...fine, apiKey: '' }],
    ['.authHeader must be true or false', { ...fine, authHeader: 'yes' }],
    ['.headers must be an object', { ...fine, headers: ['sk-secret'] }],
    ['.headers.x-one must be a string', { ...fine, headers: { 'x-one': 1 } }],
    ['.headers must hold only names that HTTP allows', { ...fine, headers: { 'sk secret\n': 'a' } }],
    ['.compat must be an object', { ...fine, compat: true }],
    ['.models must be an array', { ...fine, models: { m: {} } }],
    ['.models[0] must be an object', { ...fine, models: ['m'] }],
    ['.models[0].id must not be empty', { ...fine, models: [{ id: '' }] }],
    ['.models[0].contextWindow must be a number', { ...fine, models: [{ id: 'm', contextWindow: '1k' }] }],
    ['.models[0].maxTokens must be at least 1', { ...fine, models: [{ id: 'm', maxTokens: 0 }] }],
    ['.models[0].input[1] must be one of "text", "image"', { ...fine, models: [{ id: 'm', input: ['text', 7] }] }],
    ['.models[0].cost.output must be at least 0', { ...fine, models: [{ id: 'm', cost: { output: -1 } }] }],
    ['.models[0].reasoning must be true or false', { ...fine, models: [{ id: 'm', reasoning: 'high' }] }],
    ['.models[0].headers.a must be a string', { ...fine, models: [{ id: 'm', headers: { a: null } }] }],
    [
      '.models[0].baseUrl must be an http or https URL, without a password',
      { ...fine, models: [{ id: 'm', baseUrl: 'ws://x' }] },
    ],
    ['.modelOverrides must be an object', { modelOverrides: [] }],
    ['.modelOverrides.m must be an object', { modelOverrides: { m: 1 } }],
    ['.modelOverrides.m.name must be a string', { modelOverrides: { m: { name: 1 } } }],
    ['.modelOverrides.m.headers.a must be a string', { modelOverrides: { m: { headers: { a: 1 } } } }],
    ['must have models, baseUrl, apiKey, headers, credentials, compat, modelOverrides or signIn', {}],
    [
      '.signIn.issuer must be an https URL, or an http URL of this machine, without a password',
      { signIn: { issuer: 'http://a.test' } },
    ],
    [
      'must have models, baseUrl, apiKey, headers, credentials, compat, modelOverrides or signIn',
      { api: 'openai-completions', models: [] },
    ],
  ])('ignores an invalid provider alone: %s', (problem, provider) => {
    expect(problemOf(provider)).toEqual({
      providers: { fine },
      problems: [`models.json: providers.acme${problem.startsWith('.') ? '' : ' '}${problem}`],
    });
  });

  it('ignores invalid models alone and reports each', () => {
    const models = [{ id: 'a', contextWindow: 'big' }, { id: 'b' }, {}];

    expect(problemOf({ ...fine, models })).toEqual({
      providers: { fine, acme: { ...fine, models: [{ id: 'b' }] } },
      problems: [
        'models.json: providers.acme.models[0].contextWindow must be a number',
        'models.json: providers.acme.models[2].id is required',
      ],
    });
  });

  it('treats names such as __proto__ as plain keys', () => {
    const text = `{"providers": {"__proto__": ${JSON.stringify(fine)}, "constructor": {"__proto__": {"apiKey": "x"}},
      "acme": {"modelOverrides": {"__proto__": {"name": 7}}}}, "__proto__": {"providers": 1}}`;
    const agentDir = tempFolder();
    writeFileSync(join(agentDir, 'models.json'), text);

    const { providers, problems } = readModelsFile(agentDir);

    expect([...providers.keys()]).toEqual(['__proto__']);
    expect(problems).toEqual([
      'models.json: providers.constructor must have models, baseUrl, apiKey, headers, credentials, compat, modelOverrides or signIn',
      'models.json: providers.acme.modelOverrides.__proto__.name must be a string',
    ]);
    expect({}).not.toHaveProperty('apiKey');
  });

  it.each([
    ['', 'Unexpected end of JSON input'],
    ['[]', 'the file must hold an object'],
    ['null', 'the file must hold an object'],
    ['{"providers": []}', 'providers must be an object'],
    ['{"providers": null}', 'providers must be an object'],
    ['{"providers": {"a": {"apiKey": sk-secret}}}', "Unexpected token 's': not valid JSON"],
    [Buffer.from([0, 255, 254, 1, 2, 3]), "Unexpected token '\0': not valid JSON"],
    [`{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'the file is nested more than 50 levels deep'],
    [' '.repeat(5_000_000), 'the file is larger than 4194304 bytes'],
  ])('ignores a malformed file (%#)', (content, problem) => {
    expect(read(content)).toEqual({ providers: {}, problems: [`models.json: ${problem}`] });
  });

  it('rejects folders, pipes and devices without blocking', () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'models.json'));
    const pipe = tempFolder();
    execFileSync('mkfifo', [join(pipe, 'models.json')]);
    const device = tempFolder();
    symlinkSync('/dev/zero', join(device, 'models.json'));
    const loop = tempFolder();
    symlinkSync('models.json', join(loop, 'models.json'));

    expect([folder, pipe, device, loop].map((agentDir) => readModelsFile(agentDir).problems)).toEqual([
      ['models.json: this is not a file'],
      ['models.json: this is not a file'],
      ['models.json: this is not a file'],
      ['models.json: the file cannot be read (ELOOP)'],
    ]);
  });

  it('never writes the file', () => {
    const agentDir = tempFolder();
    const path = join(agentDir, 'models.json');
    writeFileSync(path, '{"providers": {"acme": 1},}');
    chmodSync(path, 0o444);

    readModelsFile(agentDir);

    expect(readFileSync(path, 'utf8')).toBe('{"providers": {"acme": 1},}');
  });
});
