import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { discoverLocalModels } from './discovery.ts';

type TestReply = object | ((request: IncomingMessage, response: ServerResponse) => void);

/** Long enough for a busy machine; silent servers are given up much earlier. */
const LONG_TIMEOUT = 20_000;
const SHORT_TIMEOUT = 100;

async function portOf(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server with these paths. */
async function serve(paths: Record<string, TestReply>): Promise<number> {
  const server = createServer((request, response) => {
    const reply = paths[request.url ?? ''] ?? paths['*'];
    if (typeof reply === 'function') reply(request, response);
    else response.writeHead(reply ? 200 : 404).end(JSON.stringify(reply ?? {}));
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return portOf(server);
}

/** A port without a server. */
async function deadPort(): Promise<number> {
  const server = createSocketServer();
  const port = await portOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** Searches these ports and no others. */
async function search(ports: object, own: { timeoutMs?: number; signal?: AbortSignal } = {}) {
  const dead = await deadPort();
  return discoverLocalModels({
    timeoutMs: LONG_TIMEOUT,
    ...own,
    ports: { ollama: dead, llamacpp: [dead], lmstudio: dead, ...ports },
  });
}

/** The detailed description of each model by Ollama. */
const show =
  (models: Record<string, object>): TestReply =>
  async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const details = models[JSON.parse(text).model];
    response.writeHead(details ? 200 : 404).end(JSON.stringify(details ?? { error: 'model not found' }));
  };

const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

describe('Ollama', () => {
  it('lists its models with their capabilities and context windows', async () => {
    const port = await serve({
      '/api/tags': {
        models: ['seer:latest', 'thinker:8b', 'plain:1b', 'embed:latest', 'gone:1b'].map((name) => ({ name })),
      },
      '/api/ps': { models: [{ name: 'plain:1b', context_length: 2048 }] },
      '/api/show': show({
        'seer:latest': {
          capabilities: ['completion', 'tools', 'vision'],
          model_info: { 'general.architecture': 'seer', 'seer.context_length': 131_072, 'seer.block_count': 32 },
        },
        'thinker:8b': {
          capabilities: ['completion', 'thinking'],
          model_info: { 'thinker.context_length': 40_960 },
          parameters: 'stop           "<|end|>"\nnum_ctx        8192\ntemperature    0.7',
        },
        'plain:1b': { capabilities: ['completion'], model_info: { 'plain.context_length': 32_768 } },
        'embed:latest': { capabilities: ['embedding'], model_info: { 'bert.context_length': 512 } },
      }),
    });

    const models = await search({ ollama: port });

    expect(models[0]).toEqual({
      id: 'seer:latest',
      name: 'seer:latest',
      api: 'openai-completions',
      provider: 'ollama',
      baseUrl: `http://127.0.0.1:${port}/v1`,
      reasoning: false,
      input: ['text', 'image'],
      contextWindow: 131_072,
      maxTokens: 16_384,
      cost: free,
      supportsTools: true,
    });
    expect(models.slice(1)).toMatchObject([
      { id: 'thinker:8b', reasoning: true, input: ['text'], contextWindow: 8192, supportsTools: false },
      { id: 'plain:1b', reasoning: false, contextWindow: 2048, maxTokens: 2048 },
    ]);
  });

  it('loses entries that are malformed', async () => {
    const odd = ['', ' ', 'two\nlines', '\u001b[31mred', 'x'.repeat(1000), 7, null];
    const port = await serve({
      '/api/tags': { models: [...odd.map((name) => ({ name })), 'no object', { name: 'good' }, { name: 'good' }] },
      '/api/show': show({ good: { capabilities: 'all', model_info: { 'a.context_length': -5 }, parameters: 12 } }),
    });

    expect(await search({ ollama: port })).toMatchObject([{ id: 'good', contextWindow: 4096, input: ['text'] }]);
  });

  it('lists at most the maximum number of models', async () => {
    const port = await serve({
      '/api/tags': { models: Array.from({ length: 20_000 }, (_, index) => ({ name: `m${index}` })) },
      '*': {},
    });

    expect(await search({ ollama: port })).toHaveLength(500);
  });

  it('loses models whose details have not arrived when the search ends', async () => {
    const controller = new AbortController();
    const port = await serve({
      '/api/tags': { models: [{ name: 'a' }, { name: 'b' }] },
      '/api/show': () => controller.abort(),
    });

    expect(await search({ ollama: port }, { signal: controller.signal })).toEqual([]);
  });
});

describe('llama.cpp', () => {
  const models = { object: 'list', data: [{ id: '/models/tiny-q4.gguf', object: 'model', owned_by: 'llamacpp' }] };

  it('lists its running model', async () => {
    const port = await serve({
      '/v1/models': models,
      '/props': { default_generation_settings: { n_ctx: 6144 }, modalities: { vision: true, audio: false } },
    });

    expect(await search({ llamacpp: [port] })).toEqual([
      {
        id: '/models/tiny-q4.gguf',
        name: 'tiny-q4',
        api: 'openai-completions',
        provider: 'llamacpp',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        reasoning: false,
        input: ['text', 'image'],
        contextWindow: 6144,
        maxTokens: 6144,
        cost: free,
      },
    ]);
  });

  it('is found on its old and on its new port, and each model is listed once', async () => {
    const serveModels = (...ids: string[]) =>
      serve({
        '/v1/models': { data: ids.map((id) => ({ id })) },
        '/props': { default_generation_settings: { n_ctx: 6144 } },
      });
    const [old, current] = [await serveModels('a', 'b'), await serveModels('b', 'c')];

    const found = await search({ llamacpp: [old, current] });

    expect(found.map(({ id, baseUrl }) => [id, baseUrl])).toEqual([
      ['a', `http://127.0.0.1:${old}/v1`],
      ['b', `http://127.0.0.1:${old}/v1`],
      ['c', `http://127.0.0.1:${current}/v1`],
    ]);
  });

  it('is not mistaken for any server with a list of models', async () => {
    expect(await search({ llamacpp: [await serve({ '/v1/models': models })] })).toEqual([]);
  });
});

describe('LM Studio', () => {
  it('lists its models with their loaded context windows', async () => {
    const port = await serve({
      '/api/v0/models': {
        data: [
          { id: 'a/b', type: 'llm', max_context_length: 131_072, capabilities: ['tool_use'], state: 'not-loaded' },
          { id: 'see', type: 'vlm', max_context_length: 32_768, loaded_context_length: 8192, state: 'loaded' },
          { id: 'vectors', type: 'embeddings', max_context_length: 2048 },
        ],
      },
    });

    expect(await search({ lmstudio: port })).toMatchObject([
      { id: 'a/b', provider: 'lmstudio', contextWindow: 131_072, input: ['text'], supportsTools: true, cost: free },
      { id: 'see', baseUrl: `http://127.0.0.1:${port}/v1`, contextWindow: 8192, input: ['text', 'image'] },
    ]);
  });

  it('falls back to the OpenAI-compatible list', async () => {
    const port = await serve({ '/v1/models': { data: [{ id: 'one' }, { id: 'text-embedding-two' }] } });

    expect(await search({ lmstudio: port })).toMatchObject([{ id: 'one', contextWindow: 4096 }]);
  });
});

describe('another server on such a port', () => {
  const searchAll = async (port: number, own?: Parameters<typeof search>[1]) =>
    search({ ollama: port, llamacpp: [port], lmstudio: port }, own);

  it.each<[string, TestReply]>([
    ['a page', (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')],
    ['a redirect', (_request, response) => response.writeHead(302, { location: '/v1/models' }).end()],
    ['an error', (_request, response) => response.writeHead(500).end('{"data":[{"id":"a"}]}')],
    ['a list', [{ id: 'a' }]],
    ['other data', { models: 5, data: 'x' }],
    ['nothing at all', (_request, response) => response.end()],
    ['a broken connection', (_request, response) => response.destroy()],
    ['half a response', (_request, response) => response.write('{"data":[', () => response.destroy())],
  ])('yields no models: %s', async (_what, reply) => {
    expect(await searchAll(await serve({ '*': reply }))).toEqual([]);
  });

  it('yields no models if its response has no end, and is disconnected', async () => {
    let disconnects = 0;
    const port = await serve({
      '*': (_request, response) => {
        const more = () => {
          while (response.write(' '.repeat(65_536)));
        };
        response.on('drain', more).on('close', () => disconnects++);
        more();
      },
    });

    expect(await searchAll(port)).toEqual([]);
    await expect.poll(() => disconnects).toBe(5);
  });

  it('yields no models if it never responds', async () => {
    expect(await searchAll(await serve({ '*': () => {} }), { timeoutMs: SHORT_TIMEOUT })).toEqual([]);
  });

  it('yields no models if it stalls in the middle', async () => {
    const port = await serve({ '*': (_request, response) => response.write('{"data":[{"id":"a"}') });

    expect(await searchAll(port, { timeoutMs: SHORT_TIMEOUT })).toEqual([]);
  });

  it('yields no models if it does not use HTTP', async () => {
    const server = createSocketServer((socket) => socket.on('error', () => {}).end('SSH-2.0-x\r\n'));
    onTestFinished(() => void server.close());

    expect(await searchAll(await portOf(server))).toEqual([]);
  });

  it('does not keep the other servers from being found', async () => {
    const closed = new AbortController();
    const lmstudio = await serve({
      '*': (request, response) => {
        // The connection stays open until the client closes it.
        request.socket.once('close', () => closed.abort());
        response.setHeader('connection', 'keep-alive').end('{"data":[{"id":"a"}]}');
      },
    });
    const silentPort = await serve({ '*': () => {} });

    const found = await search({ ollama: silentPort, llamacpp: [silentPort], lmstudio }, { signal: closed.signal });

    expect(found).toMatchObject([{ id: 'a' }]);
  });
});

describe('a search', () => {
  it('without servers finds nothing', async () => {
    expect(await search({})).toEqual([]);
  });

  it.each(['before it began', 'while it ran'])('that was cancelled %s finds nothing', async (when) => {
    const controller = new AbortController();
    const port = await serve({ '*': () => controller.abort() });
    if (when === 'before it began') controller.abort();

    expect(await search({ ollama: port }, { signal: controller.signal })).toEqual([]);
  });
});
