import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nextUiRequest } from '../../support/agent/extensions.ts';
import { type Home, newHome, openTestAgent, TAU } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { waitUntil } from '../../support/processes/processes.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { toolCallScript, toolOutcomes, waitForStatuses, writeMcpServers } from '../../support/tools/mcp.ts';
import { startHttpMcpServer } from '../../support/tools/mcp-http.ts';
import { type SignInBehaviour, startProtectedServer } from '../../support/tools/mcp-sign-in.ts';
import { verifies } from '../../support/verifies.ts';

const storedFile = ({ agentDir }: Home) => join(agentDir, 'tau-mcp-auth.json');

/** A home whose server `s` requires a sign-in. */
async function protectedHome(behaviour: SignInBehaviour = {}, more: object = {}) {
  const home = newHome();
  const server = await startProtectedServer(behaviour);
  writeMcpServers(home, { s: { url: server.url, ...more } });
  return { home, server };
}

const addressIn = (text: string) => /(http:\/\/\S+\/authorize\S+)/.exec(text)?.[1] ?? '';

/** Opens the address of the next sign-in dialog as a browser does. */
async function signInByBrowser(peer: Peer): Promise<void> {
  const { title } = await nextUiRequest(peer, 'input');
  expect(title).toContain('MCP server s: sign in. Open http://');
  expect((await fetch(addressIn(title))).status).toBe(200);
}

verifies('N60', 'a sign-in to an MCP server by a browser is stored and used by later agents', async ({ open }) => {
  const { home, server } = await protectedHome();
  const script = toolCallScript(['s__echo', { a: 1 }]);

  const first = await open({ home, script });
  await signInByBrowser(first.peer);
  await waitForStatuses(first.peer, 's', ['ready']);
  const outcomes = toolOutcomes(await first.peer.run('go'));
  await first.close();
  const { peer } = await open({ home, script });

  expect(outcomes).toEqual([{ text: '{"a":1}', isError: false }]);
  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: '{"a":1}', isError: false }]);
  expect(peer.records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
  expect(statSync(storedFile(home)).mode & 0o777).toBe(0o600);
  expect(server.requests.filter(({ path }) => path === '/register')).toHaveLength(1);
});

verifies('N60', 'a sign-in that a server of the older transport demands is shown as well', async ({ open }) => {
  for (const demands of ['GET', 'POST']) {
    const home = newHome();
    const server = await startHttpMcpServer({
      onRequest: (response, { method, url }) => {
        if (method === demands && (method === 'GET' || url === '/messages')) response.writeHead(401).end();
        else if (method === 'GET')
          response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .write('event: endpoint\ndata: /messages\n\n');
        else response.writeHead(405).end();
        return true;
      },
    });
    writeMcpServers(home, { s: { url: server.url } });
    const { peer, close } = await open({ home });

    const { error } = await waitForStatuses(peer, 's', ['failed']);

    expect(error).toContain('requires a sign-in');
    await close();
  }
});

verifies('N60', 'the address after a sign-in, or its code, can be pasted instead', async ({ open }) => {
  for (const pick of [(address: URL) => address.href, (address: URL) => address.searchParams.get('code')]) {
    const { home } = await protectedHome();
    const { peer, close } = await open({ home });

    const { id, title } = await nextUiRequest(peer, 'input');
    const { headers } = await fetch(addressIn(title), { redirect: 'manual' });
    const value = pick(new URL(headers.get('location') ?? ''));
    peer.send({ type: 'extension_ui_response', id, value });

    await waitForStatuses(peer, 's', ['ready']);
    await close();
  }
});

verifies('N60', 'a wrong paste during a sign-in is named and can be corrected', async ({ open }) => {
  const { home } = await protectedHome();
  const { peer } = await open({ home });

  const first = await nextUiRequest(peer, 'input');
  peer.send({ type: 'extension_ui_response', id: first.id, value: 'http://127.0.0.1/callback?code=c&state=foreign' });
  const { id, title } = await nextUiRequest(peer, 'input');
  const { headers } = await fetch(addressIn(title), { redirect: 'manual' });
  // Terminals break long lines.
  const value = (headers.get('location') ?? '').replace('&state', '\n&state');
  peer.send({ type: 'extension_ui_response', id, value });

  expect(title).toContain('MCP server s: sign in. This belongs to another sign-in. Open http://');
  await waitForStatuses(peer, 's', ['ready']);
});

verifies('N60', 'a cancelled sign-in leaves the MCP server failed', async ({ open }) => {
  const { home } = await protectedHome();
  const { peer } = await open({ home });

  const { id } = await nextUiRequest(peer, 'input');
  peer.send({ type: 'extension_ui_response', id, cancelled: true });

  const end = await peer.find(
    ({ type, server }) => type === 'mcp_status' && /cancelled/.test(String((server as { error?: string }).error)),
  );
  expect(end).toMatchObject({ server: { status: 'failed', error: 'requires a sign-in: the sign-in was cancelled' } });
  expect(existsSync(storedFile(home))).toBe(false);
});

it('[N60] a callback with a foreign state is refused and the sign-in continues', async () => {
  const { home } = await protectedHome();
  const { peer } = await openTestAgent('stdio', { home });

  const { title } = await nextUiRequest(peer, 'input');
  const address = new URL(addressIn(title));
  const forged = new URL(address.searchParams.get('redirect_uri') ?? '');
  forged.search = 'code=forged&state=forged';
  const { status } = await fetch(forged);
  await fetch(address);

  expect(status).toBe(400);
  await waitForStatuses(peer, 's', ['ready']);
});

verifies('N61', 'a token that has ended is renewed once, and the renewed one is stored', async ({ open }) => {
  const { home, server } = await protectedHome({ expiresIn: 1 });
  const first = await open({ home });
  await signInByBrowser(first.peer);
  await waitForStatuses(first.peer, 's', ['ready']);
  await first.close();
  server.access.clear();
  const before = readFileSync(storedFile(home), 'utf8');

  const { peer } = await open({ home, script: toolCallScript('s__echo') });

  expect(toolOutcomes(await peer.run('go'))).toEqual([{ text: '{}', isError: false }]);
  expect(readFileSync(storedFile(home), 'utf8')).not.toBe(before);
  expect(peer.records.filter(({ type }) => type === 'extension_ui_request')).toEqual([]);
});

verifies('N61', 'a call that finds its sign-in revoked waits for another one', async ({ open }) => {
  const { home, server } = await protectedHome();
  const { peer } = await open({ home, script: toolCallScript('s__echo') });
  await signInByBrowser(peer);
  await waitForStatuses(peer, 's', ['ready']);
  server.access.clear();
  server.refresh.clear();

  const run = peer.run('go');
  await signInByBrowser(peer);

  expect(toolOutcomes(await run)).toEqual([{ text: '{}', isError: false }]);
});

it('[N62] tokens and codes appear in no record, log or session, and headers reach no authorization server', async () => {
  const secret = 'header-secret-123456';
  const { home, server } = await protectedHome({}, { headers: { 'X-Key': secret } });
  const { peer, process, sessionFiles } = await openTestAgent('stdio', { home, script: toolCallScript('s__echo') });
  await signInByBrowser(peer);
  await waitForStatuses(peer, 's', ['ready']);
  await peer.run('go');

  const everything = [
    JSON.stringify(peer.records),
    process?.stderr(),
    ...sessionFiles().map((path) => readFileSync(path, 'utf8')),
  ].join('\n');
  const secrets = [...server.access, ...server.refresh, ...server.requests.map(({ body }) => body.get('code') ?? '')];
  for (const value of secrets.filter(Boolean)) expect(everything).not.toContain(value);
  expect(JSON.stringify(server.requests)).not.toContain(secret);
  expect(server.mcp.requests.some(({ headers }) => headers['x-key'] === secret)).toBe(true);
});

it.each([
  ['a link-local address', { resource: { authorization_servers: ['http://169.254.169.254'] } }, 'link-local address'],
  ['a private address', { metadata: { token_endpoint: 'https://10.1.2.3/token' } }, 'private address'],
  [
    'a private address for the registration',
    { metadata: { registration_endpoint: 'https://192.168.0.1/r' } },
    'private address',
  ],
  ['another resource', { resource: { resource: 'https://bank.example/mcp' } }, 'https://bank.example/mcp'],
] as const)('[N63] a sign-in that the metadata of a server leads to %s is refused', async (_, behaviour, words) => {
  const { home } = await protectedHome(behaviour);
  const { peer } = await openTestAgent('stdio', { home });
  const failed = peer.find(
    ({ type, server }) => type === 'mcp_status' && String((server as { error?: string }).error).includes(words),
  );
  void nextUiRequest(peer, 'input').then(
    ({ title }) => fetch(addressIn(title)),
    () => {},
  );

  expect(await failed).toMatchObject({ server: { status: 'failed' } });
  expect(existsSync(storedFile(home))).toBe(false);
});

it('[N63] an endless document of an authorization server ends the sign-in', async () => {
  const { home } = await protectedHome({
    onRequest: (response, path) => {
      if (path !== '/.well-known/oauth-authorization-server') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      const write = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', write);
      write();
      return true;
    },
  });
  const { peer } = await openTestAgent('stdio', { home });

  const isFailed = ({ type, server }: { type: string; server?: unknown }) =>
    type === 'mcp_status' && /more than 1048576 bytes/.test(String((server as { error?: string }).error));
  expect(await peer.find(isFailed as never)).toMatchObject({ server: { status: 'failed' } });
});

it('[N64] tau mcp signs in on the command line, lists the sign-in and forgets it', async () => {
  const { home, server } = await protectedHome();
  const login = startProgram(home, [process.execPath, TAU, 'mcp', 'login', 's']);
  await waitUntil(async () => addressIn(login.stderr()) !== '');
  await fetch(addressIn(login.stderr()));
  const signedIn = await login.finished;

  const listed = await runTau(home, ['mcp', 'list']);
  const json = await runTau(home, ['mcp', 'list', '--json']);
  const out = await runTau(home, ['mcp', 'logout', 's']);
  const again = await runTau(home, ['mcp', 'logout', 's']);

  expect(signedIn).toMatchObject({ code: 0, stdout: 'Signed in to s.\n' });
  expect(listed.stdout).toBe(`NAME  STATE      SERVER\ns     signed in  ${server.url}\n`);
  expect(JSON.parse(json.stdout)).toEqual({ name: 's', target: server.url, disabled: false, signedIn: true });
  expect(out).toMatchObject({ code: 0, stdout: 'Signed out of s.\n' });
  expect(again).toMatchObject({ code: 1, stderr: 'tau: There is no sign-in for s\n' });
});

it('[N64] on the command line the code can be pasted, after a wrong one too', async () => {
  const { home } = await protectedHome();
  const login = startProgram(home, [process.execPath, TAU, 'mcp', 'login', 's']);
  await waitUntil(async () => addressIn(login.stderr()) !== '');
  const { headers } = await fetch(addressIn(login.stderr()), { redirect: 'manual' });

  login.send('http://127.0.0.1/callback\n');
  await waitUntil(async () => login.stderr().includes('This holds no code.'));
  login.send(`${headers.get('location')}\n`);

  expect(await login.finished).toMatchObject({ code: 0, stdout: 'Signed in to s.\n' });
});

it('[N64] tau mcp names what is wrong', async () => {
  const home = newHome();
  writeMcpServers(home, { p: { command: 'x' }, k: { url: 'http://127.0.0.1:1/', headers: { Authorization: 'k' } } });
  const run = async (...args: string[]) => (await runTau(home, ['mcp', ...args])).stderr;

  expect(await run('login', 'x')).toBe('tau: mcp.json has no server "x"\n');
  expect(await run('login', 'p')).toBe('tau: p is a program: it needs no sign-in\n');
  expect(await run('login', 'k')).toBe('tau: k has its credential in mcp.json: it needs no sign-in\n');
  expect(await run('login')).toContain('tau mcp login takes the name of a server');
  expect(await run('sing')).toContain('tau mcp takes list, login, logout');
});
