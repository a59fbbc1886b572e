import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { CTRL_D, ENTER } from '../../support/processes/terminal.ts';
import { OWNER_TOKEN, startServerOnSocket } from '../../support/server/test-server.ts';

it('[W66] tau attach without a session lists the sessions and reads a choice', async () => {
  const server = await startServerOnSocket();
  for (const name of ['first', 'second']) await (await server.attach()).run(`say ${name}`);
  const chat = server.attachInTerminal();

  await chat.waitForScreen('Which one');
  chat.type(`9${ENTER}`);
  chat.type(`2${ENTER}`);
  await chat.waitForScreen('\n› say first\n');
  await chat.waitForScreen('\nfirst\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(chat.screen()).toContain('say second');
});

it('[W134] tau attach offers a new session beside the others', async () => {
  const server = await startServerOnSocket();
  await (await server.attach()).run('say first');
  const chat = server.attachInTerminal();

  await chat.waitForScreen('new: a new session');
  chat.type(`new${ENTER}`);
  await chat.waitForScreen('? prints help.\n›');
  chat.type(`say second${ENTER}`);
  await chat.waitForScreen('\nsecond\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(sessionFiles(server.home)).toHaveLength(2);
});

it('[W66] tau attach starts a session when the server has none', async () => {
  const server = await startServerOnSocket();
  const chat = server.attachInTerminal();

  await chat.waitForScreen('? prints help.\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
});

it('[W66 W69] tau attach opens the latest, a new, or a named session, and sends its input lines as prompts', async () => {
  const server = await startServerOnSocket();
  mkdirSync(join(server.home.cwd, 'sub'));
  const runAttach = async (attachArgs: string[], input: string) => {
    const { code, stdout } = await runTau(server.home, ['attach', '--socket', server.socketPath, ...attachArgs], {
      input,
    });
    expect({ attachArgs, code }).toEqual({ attachArgs, code: 0 });
    return stdout;
  };

  expect(await runAttach(['new'], 'say one\n\nsay two\n')).toMatch(/^› say one\n[^›]*one\n› say two\n[^›]*two\n$/);
  expect(await runAttach(['--continue'], 'say three')).not.toContain('one');
  const [first = ''] = sessionFiles(server.home);
  const { id } = readSessionFile(first)[0];
  await runAttach(['--cwd', 'sub'], 'say elsewhere');
  await runAttach([id.slice(0, 13)], 'say four');
  await runAttach([id], 'say five');
  await runAttach([first], 'say six');

  const files = sessionFiles(server.home).map((path) => readSessionFile(path));
  expect(files.map(([header]) => header.cwd)).toEqual([server.home.cwd, join(server.home.cwd, 'sub')]);
  expect(files[0]?.filter(({ message }) => message?.role === 'user')).toHaveLength(6);
});

it('[W66] an ambiguous id prefix is rejected', async () => {
  const server = await startServerOnSocket();
  const ids = ['aaaa-1', 'aaaa-2'];
  for (const id of ids) await (await server.attach({ new: id })).run('say hello');

  const ambiguous = await runTau(server.home, ['attach', '--socket', server.socketPath, 'aaaa'], { input: 'say hi' });

  expect(ambiguous).toMatchObject({ code: 1, stderr: "tau: 2 sessions begin with 'aaaa': give more of the id\n" });
});

it('[W69] tau attach fails when a prompt fails', async () => {
  const server = await startServerOnSocket({ tokens: { 'a-viewer': { scopes: ['view'] } } });
  const other = await server.attach();
  await other.run('say hello');

  const attachArgs = ['attach', server.url, other.cursor.session];
  const viewer = await runTau(server.home, attachArgs, { input: 'say goodbye', env: { PI_AUTH_TOKEN: 'a-viewer' } });

  const stdout = '› say goodbye\nPermission denied: prompt needs the scope prompt\n';
  expect(viewer).toEqual({ code: 1, signal: null, stdout, stderr: '' });
});

it('[W67] a token is read from a file or the environment, and a token in the URL causes a warning', async () => {
  const server = await startServerOnSocket();
  const file = join(server.home.root, 'token');
  writeFileSync(file, `${OWNER_TOKEN}\n`);
  const runAttach = (attachArgs: string[], env: Record<string, string> = {}) =>
    runTau(server.home, ['attach', ...attachArgs, 'new'], { input: 'run `env`', env });

  const byFile = await runAttach([server.url, '--token-file', file], { PI_AUTH_TOKEN: 'another' });
  const byEnvironment = await runAttach(['--url', server.url], { PI_AUTH_TOKEN: OWNER_TOKEN });
  const byAddress = await runAttach([`${server.url}?token=${OWNER_TOKEN}`]);
  const byPage = await runAttach([server.url.replace('ws:', 'http:').replace('/session', '/')], {
    PI_AUTH_TOKEN: OWNER_TOKEN,
  });

  const fine = { code: 0, stderr: '' };
  expect([byFile, byEnvironment, byPage]).toMatchObject([fine, fine, fine]);
  expect(byAddress).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^tau: A token in a URL is seen by .+\n$/),
  });
  const output = [byFile, byEnvironment, byAddress, byPage].map(({ stdout, stderr }) => stdout + stderr).join();
  expect(output + server.stderr()).not.toContain(OWNER_TOKEN);
});

it.each<[string, (server: { url: string; socketPath: string }) => string[], string, number]>([
  [
    'no server',
    () => ['new'],
    'Which server? Start one with tau serve --socket <path>, then run tau attach --socket <path>; or give its ws:// URL (see tau help server)',
    2,
  ],
  [
    'a missing socket file',
    () => ['--socket', 'gone', 'new'],
    'No server listens on CWD/gone: start one with tau serve --socket CWD/gone',
    1,
  ],
  [
    'no token',
    ({ url }) => [url, 'new'],
    'The server wants a token: give it in PI_AUTH_TOKEN, or a file of it with --token-file',
    1,
  ],
  ['a wrong token', ({ url }) => [url, 'new', '--token-file', 'wrong'], 'Invalid authentication token', 1],
  [
    'an empty token file',
    ({ url }) => [url, 'new', '--token-file', 'empty'],
    '--token-file: empty is empty (see tau help server)',
    2,
  ],
  ['a closed port', () => ['ws://127.0.0.1:1', 'new'], 'No server listens on 127.0.0.1:1', 1],
  ['an unknown host', () => ['ws://nowhere.invalid', 'new'], 'There is no host nowhere.invalid', 1],
  [
    'a wrong path',
    ({ url }) => [url.replace('/session', '/else'), 'new'],
    'There is nothing at that path of HOST: the URL has to hold the base path of the server',
    1,
  ],
  [
    'a wrong base path',
    ({ socketPath }) => ['--socket', socketPath, '--base-path', 'else', 'new'],
    'There is nothing at that path of SOCKET: give the --base-path that its server was started with',
    1,
  ],
  [
    'a flag for agents',
    ({ socketPath }) => ['--socket', socketPath, 'new', '--model', 'x'],
    '--model does not go with tau attach (see tau help server)',
    2,
  ],
  [
    'a URL of another scheme',
    () => ['--url', 'ftp://a?token=s', 'new'],
    'The URL of a server begins with ws:// or wss:// (see tau help server)',
    2,
  ],
  [
    'two servers',
    ({ url, socketPath }) => [url, '--socket', socketPath],
    '--socket and a URL contradict each other (see tau help server)',
    2,
  ],
  [
    'two sessions',
    ({ socketPath }) => ['--socket', socketPath, 'a', 'b'],
    'tau attach takes one session, not "b" too (see tau help server)',
    2,
  ],
  [
    'a session and --continue',
    ({ socketPath }) => ['--socket', socketPath, 'a', '-c'],
    '--continue opens the latest session: give no session with it (see tau help server)',
    2,
  ],
  [
    'a session and --cwd',
    ({ socketPath }) => ['--socket', socketPath, 'a', '--cwd', '.'],
    '--cwd needs a new session: tau attach new (see tau help server)',
    2,
  ],
  [
    'no session and no terminal',
    ({ socketPath }) => ['--socket', socketPath],
    'tau attach without a session needs a terminal; use tau attach <id>, tau attach new or --continue (see tau help server)',
    2,
  ],
  [
    'a missing folder',
    ({ socketPath }) => ['--socket', socketPath, '--cwd', 'none'],
    'Invalid parameters: cwd must be a folder: CWD/none',
    1,
  ],
])('[W68] tau attach fails with one line on stderr for %s', async (_label, attachArgs, template, code) => {
  const server = await startServerOnSocket();
  writeFileSync(join(server.home.cwd, 'wrong'), 'not-the-token');
  writeFileSync(join(server.home.cwd, 'empty'), '\n');

  const result = await runTau(server.home, ['attach', ...attachArgs(server)], { input: 'say hello' });

  const placeholders = { CWD: server.home.cwd, HOST: new URL(server.url).host, SOCKET: server.socketPath };
  const message = template.replaceAll(
    /CWD|HOST|SOCKET/g,
    (placeholder) => placeholders[placeholder as keyof typeof placeholders],
  );
  const stderr = `tau: ${message}\n`;
  expect(result).toEqual({ code, signal: null, stdout: '', stderr });
});

it('[W68] tau attach reports a host that is not a tau server', async () => {
  const { createServer } = await import('node:http');
  const other = createServer((_request, response) => response.end('Hello')).listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as { port: number };

  const result = await runTau(newHome(), ['attach', `ws://127.0.0.1:${port}`, 'new'], { input: '' });
  other.close();

  expect(result).toMatchObject({ code: 1, stderr: `tau: 127.0.0.1:${port} is no tau server\n` });
});
