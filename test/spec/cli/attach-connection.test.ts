import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate } from '../../support/agent/test-agent.ts';
import { CTRL_D, ENTER, startTauInTerminal } from '../../support/processes/terminal.ts';
import { startServerOnSocket } from '../../support/server/test-server.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

it('[W65] tau attach reconnects, sends what was typed meanwhile and prints nothing twice', async () => {
  const before = await startServerOnSocket();
  const chat = before.attachInTerminal(['new']);
  await chat.waitForScreen('? prints help.\n›');
  chat.type(`say hello${ENTER}`);
  await chat.waitForScreen('\nhello\n›');

  before.kill('SIGKILL');
  await chat.waitForScreen('\nReconnecting… (');
  chat.type(`say goodbye${ENTER}`);
  const after = await startServerOnSocket({ home: before.home });
  await chat.waitForScreen('\nConnected again.\n');
  await chat.waitForScreen('\ngoodbye\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(chat.screen().match(/^hello$/gm)).toHaveLength(1);
  expect(chat.screen().match(/^› say/gm)).toHaveLength(2);
  const userMessages = storedMessages(after.home).filter(({ role }) => role === 'user');
  expect(userMessages).toMatchObject([{ content: [{ text: 'say hello' }] }, { content: [{ text: 'say goodbye' }] }]);
});

it('[W65] after a reconnect, printed text of a model response is not printed again', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Half of ' }, { await: gate.path }] }];
  const before = await startServerOnSocket({ script });
  const chat = before.attachInTerminal(['new']);
  await chat.waitForScreen('? prints help.\n›');
  chat.type(`tell me a story${ENTER}`);
  await chat.waitForScreen('\nHalf of\n›');

  before.kill('SIGKILL');
  await chat.waitForScreen('\nReconnecting… (');
  await startServerOnSocket({ home: before.home });
  chat.type(ENTER);
  await chat.waitForScreen('\nConnected again.\n');
  await chat.waitForScreen('\n(failed: The agent ended before the run was over)\n');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(chat.screen().match(/Half of/g)).toHaveLength(1);
});

it('[W65] tau attach prints the death of the agent and continues with the restarted one', async () => {
  const gate = newGate();
  const server = await startServerOnSocket({ script: [{ steps: [{ text: 'Half of ' }, { await: gate.path }] }] });
  const chat = server.attachInTerminal(['new']);
  await chat.waitForScreen('? prints help.\n›');
  chat.type(`tell me a story${ENTER}`);
  await chat.waitForScreen('\nHalf of\n›');

  server.killAgent();
  await chat.waitForScreen('\nPi process terminated (SIGKILL)\n');
  await chat.waitForScreen('\n(failed: The agent ended before the run was over)\n›');
  gate.open();
  chat.type(`go on${ENTER}`);
  await chat.waitForScreen('\nHalf of\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
});

it('[W65] tau attach exits with the reason when it may not reconnect', async () => {
  const guest = { name: 'guest' };
  const server = await startServerOnSocket({ tokens: { 'a-guest': guest } });
  const chat = startTauInTerminal(server.home, ['attach', server.url, 'new'], { env: { PI_AUTH_TOKEN: 'a-guest' } });
  await chat.waitForScreen('? prints help.\n›');

  writeFileSync(join(server.home.root, 'tokens.json'), '{"tokens":{}}');

  expect(await chat.finished).toMatchObject({ code: 1 });
  expect(chat.screen()).toContain('\ntau: Invalid authentication token\n');
});

it('[W65] tau attach prints the number of unsent messages when the user quits while disconnected', async () => {
  const server = await startServerOnSocket();
  const chat = server.attachInTerminal(['new']);
  await chat.waitForScreen('? prints help.\n›');

  server.kill('SIGKILL');
  await chat.waitForScreen('\nReconnecting… (');
  chat.type(`say goodbye${ENTER}`);
  await chat.waitForScreen('\n› say goodbye\n');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 1 });
  expect(chat.screen()).toContain('tau: Not delivered: 1 of your last messages');
});
