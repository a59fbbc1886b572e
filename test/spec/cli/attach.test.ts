import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { homeWithCommands } from '../../support/agent/extensions.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import { CTRL_C, CTRL_D, ENTER } from '../../support/processes/terminal.ts';
import { startServerOnSocket } from '../../support/server/test-server.ts';

/** A model response that never ends. */
const endless = { steps: [{ text: 'Once upon a time ' }, { stall: true }] };

it('[W63] tau attach prints the recent conversation, streams live, and quitting does not stop the run', async () => {
  const gate = newGate();
  const script = [
    { text: 'Good morning.' },
    { steps: [{ text: 'It was a dark ' }, { await: gate.path }, { text: 'and stormy night.' }] },
  ];
  const server = await startServerOnSocket({ script });
  const other = await server.attach();
  await other.run('say good morning');
  other.send({ type: 'prompt', message: 'tell me\na story' });
  await other.next('message_update');

  const chat = server.attachInTerminal([other.cursor.session]);
  await chat.waitForScreen('\n› say good morning\nGood morning.\n› tell me\n  a story\nIt was a dark\n›');
  chat.type(CTRL_D);
  const firstExit = await chat.finished;
  const reattached = server.attachInTerminal([other.cursor.session.slice(0, 12)]);
  await reattached.waitForScreen('\nIt was a dark\n›');
  gate.open();
  await reattached.waitForScreen('\nIt was a dark and stormy night.\n›');
  reattached.type(CTRL_D);

  expect(firstExit).toMatchObject({ code: 0, stderr: '' });
  expect(await reattached.finished).toMatchObject({ code: 0, stderr: '' });
  expect(await other.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  expect(server.agents()).toHaveLength(1);
});

it('[W63] prompts and results of other clients are printed, and own prompts once', async () => {
  const server = await startServerOnSocket();
  const other = await server.attach();
  writeFileSync(join(server.home.cwd, 'marker.txt'), '');
  const chat = server.attachInTerminal([other.cursor.session]);
  await chat.waitForScreen('Ctrl-C stops an answer, Ctrl-D exits, ? prints help.\n›');

  await other.run('list the files');
  await chat.waitForScreen('\n▸ bash ls -la\n');
  chat.type(`say hello${ENTER}`);
  await chat.waitForScreen('\nhello\n›');
  await other.next('agent_settled');
  await other.run('say goodbye');
  await chat.waitForScreen('\ngoodbye\n›');
  chat.type(CTRL_D);
  await chat.finished;

  const prompts = chat.screen().match(/^› \S.*$/gm);
  expect(prompts).toEqual(['› list the files', '› say hello', '› say goodbye']);
  expect(chat.screen()).toContain('marker.txt');
});

it('[W63] a tool call is printed once with its output, whether joined during or after it', async () => {
  const gate = newGate();
  const call = { name: 'bash', arguments: { command: `until [ -e ${gate.path} ]; do sleep 0.05; done; echo done` } };
  const server = await startServerOnSocket({ script: [{ steps: [{ toolCall: call }] }, { text: 'That is all.' }] });
  const other = await server.attach();
  other.send({ type: 'prompt', message: 'wait' });
  await other.next('tool_execution_start');

  const during = server.attachInTerminal([other.cursor.session], { columns: 200 });
  await during.waitForScreen('\n▸ bash until');
  gate.open();
  await during.waitForScreen('\n  done\nThat is all.\n›');
  const after = server.attachInTerminal([other.cursor.session], { columns: 200 });
  await after.waitForScreen('\n  done\nThat is all.\n›');
  for (const chat of [during, after]) chat.type(CTRL_D);
  await Promise.all([during.finished, after.finished]);

  for (const chat of [during, after]) expect(chat.screen().match(/▸ bash/g)).toHaveLength(1);
});

it('[W63] the last messages of a long conversation are printed, with the number of earlier ones', async () => {
  const server = await startServerOnSocket();
  const other = await server.attach();
  for (let turn = 1; turn <= 12; turn++) await other.run(`say number ${turn}.`);

  const chat = server.attachInTerminal(['--continue']);
  await chat.waitForScreen('\nnumber 12.\n›');
  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.screen()).toContain('… 4 earlier messages\n› say number 3.\n');
  expect(chat.screen()).not.toContain('number 2.');
});

it('[W64] Ctrl-C stops the run of any client', async () => {
  const server = await startServerOnSocket({ script: [endless] });
  const other = await server.attach();
  other.send({ type: 'prompt', message: 'tell me a story' });
  const chat = server.attachInTerminal([other.cursor.session]);
  await chat.waitForScreen('\nOnce upon a time\n›');

  chat.type(CTRL_C);
  await chat.waitForScreen('\nOnce upon a time\n(stopped)\n›');
  chat.type(CTRL_D);

  expect(await other.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
  expect(await chat.finished).toMatchObject({ code: 0 });
});

it('[W64] dialogs of extensions are shown until a client answers', async () => {
  const { home } = homeWithCommands({ ask: "ctx.ui.notify('So it is ' + (await ctx.ui.confirm(args, '')) + '.');" });
  const server = await startServerOnSocket({ home });
  const other = await server.attach();
  const chat = server.attachInTerminal([other.cursor.session]);
  await chat.waitForScreen('? prints help.\n›');

  other.send({ type: 'prompt', message: '/ask Red?' });
  await chat.waitForScreen('\nRed?\n');
  chat.type(`y${ENTER}`);
  await chat.waitForScreen('\nSo it is true.\n›');
  other.send({ type: 'prompt', message: '/ask Blue?' });
  await chat.waitForScreen('\nBlue?\n');
  const { id } = await other.next(({ title }) => title === 'Blue?');
  other.send({ type: 'extension_ui_response', id, confirmed: false });
  await chat.waitForScreen('\n(This question is closed.)\n');
  await chat.waitForScreen('\nSo it is false.\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
});
