import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { type Home, NO_RETRY, newHome, scriptArgs, writeSettings } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { CTRL_D, ENTER, startTauInTerminal } from '../../support/processes/terminal.ts';

/** A title, a cleared screen, a link and reversed text: escapes of 7 and 8 bits, controls and directions. */
const HOSTILE = 'be\u001B]0;owned\u0007gin\u009B2J\u007F\b\u001B[8m\u061Cin\u200Fvoice\u202Efdp.exe\u2066\u0085end';
const CLEANED = 'be]0;ownedgin2J[8minvoicefdp.exeend';

// tau prints plain lines here: a terminal sends \r\n for each line end.
const UNSAFE = /(?![\n\t])[\p{Cc}\p{Bidi_Control}]/u;

async function printedBy(home: Home, args: readonly string[]): Promise<string> {
  const { stdout } = await startTauInTerminal(home, args, { columns: 500 }).finished;
  return stdout.replaceAll('\r\n', '\n');
}

const withSettings = (settings: object) => {
  const home = newHome();
  writeSettings(home, settings);
  return home;
};

async function homeWithHostileSession(): Promise<Home> {
  const home = newHome();
  await runTau(home, ['-p', '--name', HOSTILE, ...scriptArgs(home, [{ text: HOSTILE }]), HOSTILE], { input: '' });
  return home;
}

it.each([
  ['the answer of -p', () => newHome(), ['-p', 'hi'], { text: HOSTILE }],
  ['the error of -p', () => withSettings(NO_RETRY), ['-p', 'hi'], { error: { status: 400, message: HOSTILE } }],
  [
    'the tool calls of -p',
    () => newHome(),
    ['-p', 'hi'],
    { toolCall: { name: 'bash', arguments: { command: HOSTILE } } },
  ],
])('[Z80] %s reaches a terminal without its controls', async (_what, makeHome, args, step) => {
  const home = makeHome();

  const printed = await printedBy(home, [...args, ...scriptArgs(home, [{ steps: [step] }, { text: 'Done.' }])]);

  expect(printed).toContain(CLEANED);
  expect(printed).not.toMatch(UNSAFE);
});

it.each([
  ['a usage error', [HOSTILE]],
  ['an unknown flag', [`--${HOSTILE}`]],
  ['the list of sessions', ['sessions', 'list']],
  ['the list of all sessions', ['sessions', 'list', '--all']],
  ['a name that no session has', ['sessions', 'show', HOSTILE]],
  ['a name that no session has, to export', ['export', HOSTILE]],
  ['a session that cannot be opened', ['chat', '--session', `${HOSTILE}/a.jsonl`]],
  ['a missing file', ['-p', `@${HOSTILE}`]],
  ['the system prompt', ['--print-system-prompt', '--append-system-prompt', HOSTILE]],
  ['an extension that fails to load', ['-p', 'hi', '-e', 'hostile.ts']],
])('[Z80] %s reaches a terminal without its controls', async (_what, args) => {
  const home = await homeWithHostileSession();
  writeFileSync(join(home.cwd, 'hostile.ts'), `export default () => { throw new Error(${JSON.stringify(HOSTILE)}); };`);

  const printed = await printedBy(home, args);

  expect(printed).toContain(CLEANED);
  expect(printed).not.toMatch(UNSAFE);
});

it('[Z80] a model with a hostile name is listed without controls', async () => {
  const home = newHome();
  const models = [{ id: HOSTILE, name: HOSTILE }];
  const provider = { baseUrl: 'http://127.0.0.1:9', apiKey: 'k', api: 'openai-completions', models };
  mkdirSync(home.agentDir, { recursive: true });
  writeFileSync(join(home.agentDir, 'models.json'), JSON.stringify({ providers: { local: provider } }));

  const printed = await printedBy(home, ['--list-models']);

  expect(printed).toContain('invoicefdp.exeend');
  expect(printed).not.toMatch(UNSAFE);
});

it.each([[['--mode', 'json', 'hi']], [['sessions', 'list', '--json']]])(
  '[Z80] %j in a terminal escapes controls, and the JSON keeps its meaning',
  async (args) => {
    const home = await homeWithHostileSession();

    const printed = await printedBy(home, [...args, ...scriptArgs(home, [{ text: HOSTILE }])]);

    expect(printed).not.toMatch(UNSAFE);
    const texts = printed
      .trim()
      .split('\n')
      .map((line) => JSON.stringify(JSON.parse(line)));
    expect(texts.some((text) => text.includes(JSON.stringify(HOSTILE).slice(1, -1)))).toBe(true);
  },
);

it.each([
  ['refuses', '/api/me'],
  ['breaks off', '/api/sessions'],
])(
  '[Z80] the error of a server that %s reaches the terminal of tau attach without its controls',
  async (_what, path) => {
    const server = createServer((request, response) => {
      if (request.url?.startsWith(path)) response.writeHead(500).end(JSON.stringify({ error: HOSTILE }));
      else response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;

    const printed = await printedBy(newHome(), ['attach', `ws://127.0.0.1:${port}`]);

    expect(printed).toBe(`tau: ${CLEANED}\n`);
  },
);

it('[Z80] the close reason of a server reaches the terminal of tau attach without its controls', async () => {
  const server = createServer((_request, response) => response.end('{}'));
  new WebSocketServer({ server }).on('connection', (socket) => {
    socket.send(JSON.stringify({ type: 'server_error', error: HOSTILE }));
    socket.close(1008, HOSTILE);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  const { stdout } = await startTauInTerminal(newHome(), ['attach', `ws://127.0.0.1:${port}`, 'new']).finished;

  expect(stdout).toContain(CLEANED);
  expect(stdout).not.toMatch(/\p{Bidi_Control}/u);
  for (const control of ['\u001B]', '\u001B[8m', '\u0007', '\u009B']) expect(stdout).not.toContain(control);
});

it('[Z80] tau chat prints the text of the model and of errors without directions and escapes', async () => {
  const home = withSettings(NO_RETRY);
  const script = scriptArgs(home, [{ text: HOSTILE }, { error: { status: 400, message: `again ${HOSTILE}` } }]);
  const chat = startTauInTerminal(home, ['chat', ...script], { columns: 200 });
  await chat.waitForScreen('\n›');

  chat.type(`hi${ENTER}`);
  await chat.waitForScreen(`\n${CLEANED}\n›`);
  chat.type(`hi${ENTER}`);
  await chat.waitForScreen(`again ${CLEANED}`);
  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.stdout()).not.toMatch(/\p{Bidi_Control}/u);
  for (const control of ['\u001B]', '\u001B[8m', '\u0007', '\u007F', '\u009B', '\u0085']) {
    expect(chat.stdout()).not.toContain(control);
  }
});

it('[Z80] without a terminal tau -p prints the answer byte for byte', async () => {
  const home = newHome();

  const { stdout } = await runTau(home, ['-p', 'hi', ...scriptArgs(home, [{ text: HOSTILE }])], { input: '' });

  expect(stdout).toBe(`${HOSTILE}\n`);
});
