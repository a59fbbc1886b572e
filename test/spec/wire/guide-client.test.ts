import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';
import { remoteServer } from '../../../src/client/testing/remote-server.node.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { startProgram } from '../../support/processes/program.ts';
import { OWNER_TOKEN, startServer } from '../../support/server/test-server.ts';

const root = join(import.meta.dirname, '../../..');
const moduleOf = (path: string) => JSON.stringify(pathToFileURL(join(root, path)).href);

/** Code that gives the sample a WebSocket and maps the printed address to this server. */
const browserShim = (url: string) => `
import { WebSocket } from ${moduleOf('node_modules/ws/wrapper.mjs')};
globalThis.WebSocket = class extends WebSocket {
  constructor(url) {
    super(url.replace('wss://server:3000/session', ${JSON.stringify(url)}));
  }
};
`;

/** The printed client with other import paths, as JavaScript. */
function sampleClient(): string {
  const printed = readFileSync(join(root, 'test/fixtures/seeds/browser-client.ts'), 'utf8');
  const resolved = printed.replaceAll(/'\.\/(WebSocketClient|RPCClient|rpc-types)'/g, moduleOf('dist/client.js'));
  return transformSync(resolved, { loader: 'ts', format: 'esm' }).code;
}

it('[V20] the example of docs/embedding.md works without a built-in WebSocket', async () => {
  const server = await startServer();
  const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
  const section = page.slice(page.indexOf('### The clients of the remote session guide'));
  const code = (/```js\n([\s\S]*?)```/.exec(section)?.[1] ?? '')
    .replace("'tau-agent/client'", moduleOf('dist/client.js'))
    .replace("'ws'", moduleOf('node_modules/ws/wrapper.mjs'));
  writeFileSync(join(server.home.cwd, 'client.mjs'), code);
  const url = `${server.url}?stream=delta&token=${OWNER_TOKEN}`;

  const {
    code: exit,
    stdout,
    stderr,
  } = await startProgram(server.home, [process.execPath, 'client.mjs', url]).finished;

  expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: 'hello', stderr: ' The client was closed\n' });
});

it('[V20] the printed browser client connects, sends its prompt and prints events', async () => {
  const home = newHome();
  const server = await remoteServer();
  writeFileSync(join(home.cwd, 'browser.mjs'), browserShim(server.url));
  writeFileSync(join(home.cwd, 'client.mjs'), sampleClient());
  const client = startProgram(home, [process.execPath, '--import', './browser.mjs', 'client.mjs']);

  const connection = await server.connection();
  const prompt = await connection.next();
  connection.respond(prompt, { disposition: 'started', runId: 'r1' });
  const step = (delta: string) => ({ type: 'text_delta', contentIndex: 0, delta });
  const lines = [
    { type: 'agent_start' },
    { type: 'message_update', assistantMessageEvent: step('two ') },
    { type: 'message_update', assistantMessageEvent: step('files\n') },
  ];
  connection.send(lines.map((line) => JSON.stringify(line)).join('\n'));
  connection.send({ type: 'tool_execution_end', toolCallId: 'c', toolName: 'ls', result: {}, isError: false });
  await client.waitForOutput('Tool ls completed\n');
  connection.close(1000);
  const { code, stdout, stderr } = await client.finished;

  expect(connection.query).toEqual({ token: 'abc-123', session: '/path/to/session.jsonl' });
  expect(prompt).toMatchObject({ type: 'prompt', message: 'List all TypeScript files in src/' });
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: 'Agent started\ntwo files\nTool ls completed\n',
    stderr: '',
  });
});
