import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newGate, newHome, scriptArgs, sessionFiles } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import { CTRL_C, CTRL_D, ENTER, paste, startTauInTerminal } from '../../support/processes/terminal.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

/** A model response that never ends. */
const endless = { steps: [{ text: 'Once upon a time ' }, { stall: true }] };

it('tau chat streams text, shows tools, and exits on Ctrl-D', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'marker.txt'), '');
  const chat = startTauInTerminal(home, ['chat', '--name', 'talk', '--approvals', 'full']);
  await chat.waitForScreen('\n›');

  chat.type(`say good morning${ENTER}`);
  await chat.waitForScreen('\ngood morning\n›');
  chat.type(`list the files${ENTER}`);
  await chat.waitForScreen('\n▸ bash ls -la\n');
  await chat.waitForScreen('marker.txt');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(chat.screen()).toMatch(/^tau with tau\/scripted\. Ctrl-C stops an answer, Ctrl-D exits, \? prints help\.\n/);
  expect(storedMessages(home)[0]).toMatchObject({ role: 'user', content: [{ text: 'say good morning' }] });
});

it('tau without arguments starts a chat in a terminal', async () => {
  const chat = startTauInTerminal(newHome(), []);

  await chat.waitForScreen('\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
});

it('tau chat keeps typed text separate from streaming output', async () => {
  const home = newHome();
  const gates = [newGate(), newGate()] as const;
  const steps = [
    { text: 'It was a dark ' },
    { await: gates[0].path },
    { text: 'and stormy night, so the lamps were lit and ' },
    { await: gates[1].path },
    { text: 'the shutters closed.\nThen it was still.' },
  ];
  const chat = startTauInTerminal(home, ['chat', ...scriptArgs(home, [{ steps }, { text: 'Noted.' }])], {
    columns: 30,
  });
  await chat.waitForScreen('\n›');

  chat.type(`begin${ENTER}`);
  await chat.waitForScreen('\nIt was a dark\n›');
  chat.type('what I type is longer than the ');
  await chat.waitForScreen('\nIt was a dark\n› what I type is longer than t\nhe');
  gates[0].open();
  await chat.waitForScreen('\nand\n› what I type is longer than t\nhe');
  chat.type('screen');
  await chat.waitForScreen('\nand\n› what I type is longer than t\nhe screen');
  gates[1].open();
  await chat.waitForScreen('\nThen it was still.\n› what I type is longer than t\nhe screen');
  chat.type(ENTER);
  await chat.waitForScreen('\nNoted.\n›');
  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.screen()).toContain(`
› begin
It was a dark and stormy
night, so the lamps were lit
and the shutters closed.
Then it was still.
› what I type is longer than t
he screen
`);
  expect(storedMessages(home)[2]).toMatchObject({ content: [{ text: 'what I type is longer than the screen' }] });
});

it('[Z81] tau chat wraps Chinese and Japanese text by cells, and keeps typed text in place', async () => {
  const home = newHome();
  const gate = newGate();
  const steps = [{ text: '深圳市南山区，' }, { await: gate.path }, { text: '東京タワーは赤い。🐚 か\u3099く' }];
  const chat = startTauInTerminal(home, ['chat', ...scriptArgs(home, [{ steps }])], { columns: 20 });
  await chat.waitForScreen('\n›');

  chat.type(`begin${ENTER}`);
  await chat.waitForScreen('\n深圳市南山区，\n›');
  chat.type('我打字');
  await chat.waitForScreen('\n› 我打字');
  gate.open();
  await chat.waitForScreen('\n深圳市南山区，東京タ\nワーは赤い。🐚\nか\u3099く\n› 我打字');
  chat.type(ENTER);
  await chat.waitForScreen('answers.');
  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.screen()).toContain('\n› begin\n深圳市南山区，東京タ\nワーは赤い。🐚\nか\u3099く\n›');
});

it('tau chat steers the run with messages sent during it, and confirms that', async () => {
  const home = newHome();
  const gate = newGate();
  const steps = [{ text: 'One ' }, { await: gate.path }, { text: 'two.' }];
  const chat = startTauInTerminal(home, ['chat', ...scriptArgs(home, [{ steps }, { text: 'Three.' }])]);
  await chat.waitForScreen('\n›');

  chat.type(`count${ENTER}`);
  await chat.waitForScreen('\nOne\n›');
  chat.type(`go on${ENTER}`);
  await chat.waitForScreen('\n(queued for the next step)\n›');
  gate.open();
  await chat.waitForScreen('\nThree.\n›');
  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.screen()).toContain(`
› count
One
› go on
(queued for the next step)
two.
Three.
`);
  expect(storedMessages(home).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

it('tau chat sends pasted lines as one prompt, with the text typed before and after', async () => {
  const home = newHome();
  const chat = startTauInTerminal(home, ['chat']);
  await chat.waitForScreen('\n›');

  chat.type(`say ${paste('one\n\ttwo\nthr\u001B[31mee')} four`);
  await chat.waitForScreen('thr[31mee four');
  chat.type(ENTER);
  await chat.waitForScreen('\none');
  chat.type(CTRL_D);
  await chat.finished;

  const [prompt, ...others] = storedMessages(home);
  expect(prompt).toMatchObject({ role: 'user', content: [{ text: 'say one\n\ttwo\nthr[31mee four' }] });
  expect(others.map(({ role }) => role)).toEqual(['assistant']);
});

it('tau chat shows the first lines of a long paste, and sends all of it', async () => {
  const home = newHome();
  const chat = startTauInTerminal(home, ['chat'], { columns: 40 });
  const text = Array.from({ length: 500 }, (_, index) => `line ${index} ${'x'.repeat(50)}`).join('\n');
  await chat.waitForScreen('\n›');

  chat.type(paste(`say ${text}\n`));
  await chat.waitForScreen('  … 494 more lines');
  chat.type(ENTER);
  await chat.waitForScreen('\nline 499');
  chat.type(CTRL_D);
  await chat.finished;

  expect(storedMessages(home)[0]).toMatchObject({ content: [{ text: `say ${text}` }] });
});

it('Ctrl-C stops a model response, keeps typed text, and the next prompt works', async () => {
  const home = newHome();
  const chat = startTauInTerminal(home, ['chat', ...scriptArgs(home, [endless, { text: 'Still here.' }])]);
  await chat.waitForScreen('\n›');

  chat.type(`tell me a story${ENTER}`);
  await chat.waitForScreen('\nOnce upon a time\n›');
  chat.type('are you');
  await chat.waitForScreen('\n› are you');
  chat.type(CTRL_C);
  await chat.waitForScreen('\nOnce upon a time\n(stopped)\n› are you');
  chat.type(` there?${ENTER}`);
  await chat.waitForScreen('\nStill here.\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(storedMessages(home)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', stopReason: 'aborted' },
    { role: 'user' },
    { role: 'assistant', stopReason: 'stop' },
  ]);
});

it('Ctrl-C clears typed text, and on an empty line explains how to quit', async () => {
  const home = newHome();
  const chat = startTauInTerminal(home, ['chat']);
  await chat.waitForScreen('\n›');

  chat.type(`${paste('never\nmind')} this`);
  await chat.waitForScreen('\n› never\n  mind this');
  chat.type(CTRL_C);
  chat.type(CTRL_C);
  await chat.waitForScreen('\n(Ctrl-D exits)\n›');
  chat.type(`say hello${ENTER}`);
  await chat.waitForScreen('\nhello\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(chat.screen()).not.toContain('never');
  expect(storedMessages(home)[0]).toMatchObject({ content: [{ text: 'say hello' }] });
});

it.each(['?', '/help'])('%s shows help without calling the agent', async (word) => {
  const chat = startTauInTerminal(newHome(), ['chat', '--session-dir', 'kept']);
  await chat.waitForScreen('\n›');

  chat.type(`${word}${ENTER}`);
  await chat.waitForScreen('? or /help shows this.\nTry: list the files');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(chat.screen()).not.toContain('The message');
});

it('Ctrl-D during a model response quits and stores the text so far', async () => {
  const home = newHome();
  const chat = startTauInTerminal(home, ['chat', ...scriptArgs(home, [endless])]);
  await chat.waitForScreen('\n›');

  chat.type(`tell me a story${ENTER}`);
  await chat.waitForScreen('\nOnce upon a time\n›');
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(storedMessages(home).at(-1)).toMatchObject({ role: 'assistant', stopReason: 'aborted' });
});

it('tau chat restores the terminal on exit', async () => {
  const chat = startTauInTerminal(newHome(), ['chat']);
  await chat.waitForScreen('\n›');

  chat.type(CTRL_D);
  await chat.finished;

  expect(chat.stdout().match(/(?<=\[\?2004)[hl]/g)).toEqual(['h', 'l']);
});

it('[Z71] --resume lists the sessions and reads a choice', async () => {
  const home = newHome();
  await runTau(home, ['-p', 'say first'], { input: '' });
  await runTau(home, ['-p', 'say second'], { input: '' });
  const chat = startTauInTerminal(home, ['--resume']);

  await chat.waitForScreen('Which one');
  chat.type(`9${ENTER}`);
  chat.type(`2${ENTER}`);
  await chat.waitForScreen('Continuing a session');
  chat.type(`say third${ENTER}`);
  await chat.waitForScreen('third');
  chat.type(CTRL_D);

  expect((await chat.finished).code).toBe(0);
  expect(sessionFiles(home)).toHaveLength(2);
  expect(readFileSync(sessionFiles(home)[0] ?? '', 'utf8')).toContain('say third');
});
