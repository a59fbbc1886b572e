import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transformSync } from 'esbuild';
import { expect, it } from 'vitest';
import { assistantTexts } from '../../support/agent/run-records.ts';
import { type Home, newHome, readSessionFile } from '../../support/agent/test-agent.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { groupSize, waitUntil } from '../../support/processes/processes.ts';
import { pathWithPi, startProgram } from '../../support/processes/program.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';

const root = join(import.meta.dirname, '../../..');

/** Starts the server that the guide prints, with its import repaired. */
async function sampleServer(home: Home) {
  const port = await freePort();
  const printed = readFileSync(join(root, 'test/fixtures/seeds/websocket-server.ts'), 'utf8');
  const repaired = printed
    .replace("import { readline } from 'readline';", "import * as readline from 'readline';")
    .replace("'ws'", JSON.stringify(pathToFileURL(join(root, 'node_modules/ws/wrapper.mjs')).href))
    .replace('const PORT = 3000;', `const PORT = ${port};`);
  writeFileSync(join(home.root, 'server.mjs'), transformSync(repaired, { loader: 'ts', format: 'esm' }).code);
  const server = startProgram(home, [process.execPath, join(home.root, 'server.mjs')], { env: pathWithPi(home) });
  await server.waitForOutput('listening');
  return { server, url: `ws://localhost:${port}/session` };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' ? (address?.port ?? 0) : 0));
    });
  });
}

it('[W87] the server that the guide prints runs tau, and its client gets a response', async () => {
  const { server, url } = await sampleServer(newHome());
  const peer = new RemotePeer(`${url}?token=your-secret-token`, { hasForeignFields: true });

  await peer.find('ready');
  const records = await peer.run('say hello');

  expect(assistantTexts(records)).toEqual(['hello']);
  expect(records.at(-1)).toMatchObject({ type: 'agent_settled', outcome: 'ok' });
  await peer.disconnect();
  await server.waitForOutput('Pi process exited');
  await waitUntil(async () => (await groupSize(server.child.pid ?? 0)) === 1);
});

it('[W87] the server that the guide prints opens the session that the client names', async () => {
  const home = newHome();
  const path = storeSession(home, shortConversation(home.cwd));
  const { url } = await sampleServer(home);
  const peer = new RemotePeer(`${url}?token=your-secret-token&session=${path}`, { hasForeignFields: true });

  await peer.run('say hello');

  expect((await peer.ok({ type: 'get_messages' })).messages).toHaveLength(4);
  expect(await peer.ok({ type: 'get_last_assistant_text' })).toEqual({ text: 'hello' });
  expect(readSessionFile(path).at(-1)).toMatchObject({ message: { role: 'assistant' } });
});

it('[W87] the server that the guide prints closes a wrong token with 1008', async () => {
  const { url } = await sampleServer(newHome());

  expect(await new RemotePeer(`${url}?token=wrong`).ended).toEqual({
    code: 1008,
    reason: 'Invalid authentication token',
  });
});
