import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, it, onTestFinished } from 'vitest';
import { bash } from '../support/agent/extensions.ts';
import { useBrowser } from '../support/page/browser.ts';
import { waitUntil } from '../support/processes/processes.ts';
import { OWNER_TOKEN, startServer } from '../support/server/test-server.ts';

const root = join(import.meta.dirname, '../..');
const { visit } = useBrowser();

/** The client of the remote session guide, with its import paths and its server replaced. */
async function guideClient(server: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(root, 'test/fixtures/seeds/browser-client.ts')],
    bundle: true,
    format: 'esm',
    write: false,
    // The sample prints with an API of Node.
    define: { 'process.stdout.write': 'console.log' },
    plugins: [
      {
        name: 'paths',
        setup({ onResolve }) {
          onResolve({ filter: /^\.\/(WebSocketClient|RPCClient|rpc-types)$/ }, () => ({
            path: join(root, 'dist/client.js'),
          }));
        },
      },
    ],
  });
  const text = outputFiles[0]?.text ?? '';
  return text.replace(/wss:\/\/server:3000\/session\?[^'"]*/, `${server}?stream=delta&token=${OWNER_TOKEN}`);
}

/** A page on its own origin, whose script is set by `run`. */
async function foreignPage(): Promise<{ origin: string; run: (script: string) => void }> {
  let script = '';
  const pages = createServer((request, response) => {
    const isScript = request.url === '/client.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html');
    response.end(
      isScript
        ? script
        : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="client.js"></script>',
    );
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void pages.close());
  const { port } = pages.address() as AddressInfo;
  const run = (text: string) => {
    script = text;
  };
  return { origin: `http://127.0.0.1:${port}`, run };
}

it('the client of the guide works from an allowed origin', async () => {
  const { origin, run } = await foreignPage();
  const script = [bash('ls src'), { text: 'There are two.' }];
  const server = await startServer({ args: ['--allow-origin', origin], script });
  run(await guideClient(server.url));

  const { complaints: printed } = await visit(origin);
  await waitUntil(async () => printed.join('').endsWith('two.'));

  expect(printed[0]).toBe('log: Agent started');
  expect(printed).toContain('log: Tool bash completed');
});

it('a page from any other origin is rejected, even with a valid token', async () => {
  const { origin, run } = await foreignPage();
  const server = await startServer();
  run(await guideClient(server.url));

  const { complaints: printed } = await visit(origin);
  await waitUntil(async () => printed.length > 0);

  expect(printed[0]).toMatch(/^error: WebSocket connection to .* failed: .*403/);
  expect(server.agents()).toEqual([]);
});

it('[W164] a RemoteSession in a browser uses the address that responds', async () => {
  const { origin, run } = await foreignPage();
  const server = await startServer({ args: ['--allow-origin', origin] });
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const { port } = closed.address() as AddressInfo;
  closed.close();
  const addresses = [`ws://127.0.0.1:${port}?token=${OWNER_TOKEN}`, server.url];
  const contents = `import { RemoteSession } from './dist/client.js';
    const session = new RemoteSession(${JSON.stringify(addresses)});
    const { settled } = await session.promptAndWait('say hello');
    console.log('the run ended: ' + settled.outcome);`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    format: 'esm',
    write: false,
  });
  run(outputFiles[0]?.text ?? '');

  const { complaints: printed } = await visit(origin);
  await waitUntil(async () => printed.includes('log: the run ended: ok'));
});
