import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Command, command, tau } from '../support/command.ts';
import { type Home, newHome, sessionFiles, stored, TAU } from '../support/open.ts';

const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const ENTER = '\r';

/** Gives a program a terminal of its own, and passes on what is typed and shown. */
const TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

it('shows what the agent does when there is nobody to ask', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'marker.txt'), '');

  const { code, stdout, stderr } = await tau(home, ['chat'], { input: '' });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^› list the files\n/);
  expect(stdout).toContain('\n▸ bash ls -la\n');
  expect(stdout).toContain('marker.txt');
  expect(stdout).toMatch(/\n$/);
});

it('answers the lines of its input one after another', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await tau(home, ['chat'], { input: 'say hello\n\n  \nfail\nsay goodbye' });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const shown = stdout.split('\n').filter((line) => /^(›|hello|goodbye|\(failed)/.test(line));
  expect(shown).toEqual([
    '› say hello',
    'hello',
    '› fail',
    expect.stringMatching(/^\(failed: 500 .+\)$/),
    '› say goodbye',
    'goodbye',
  ]);
  expect(messagesOf(home).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

it('prints no colours where there is no terminal', async () => {
  const { stdout } = await tau(newHome(), ['chat'], { input: 'think about the sea then list the files\n' });

  expect(stdout).not.toContain('\u001B');
});

it('says in one line why a prompt was refused, and goes on', async () => {
  const { code, stdout, stderr } = await tau(newHome(), ['chat', '--model', 'acme/large'], { input: 'one\ntwo\n' });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^› one\nNo API key found for acme.*\n› two\nNo API key found for acme.*\n$/);
});

it('[Z30] ends without a word when its reader leaves', async () => {
  const home = newHome();
  const shell = `{ echo 'count to 50000' | "$0" "$1" chat; echo $? > code; } | head -n 1; cat code`;

  const { stdout, stderr } = await command(home, ['sh', '-c', shell, process.execPath, TAU]).finished;

  expect({ stdout, stderr }).toEqual({ stdout: '› count to 50000\n0\n', stderr: '' });
  expect(messagesOf(home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('talks in a terminal: streams text, shows tools, and Ctrl-D leaves', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'marker.txt'), '');
  const chat = inTerminal(home, ['--name', 'talk']);
  await chat.printed('› ');

  chat.send(`say good morning${ENTER}`);
  await chat.printed('\ngood morning\r\n');
  chat.send(`list the files${ENTER}`);
  await chat.printed('▸ bash ls -la');
  await chat.printed('marker.txt');
  chat.send(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(chat.stdout()).toContain('tau with tau/scripted. Ctrl-C stops an answer, Ctrl-D leaves.');
  expect(messagesOf(home)[0]).toMatchObject({ role: 'user', content: [{ text: 'say good morning' }] });
});

it('stops an answer with Ctrl-C and takes the next prompt', async () => {
  const home = newHome();
  const chat = inTerminal(home, ['--model', 'tau/scripted-slow']);
  await chat.printed('› ');

  chat.send(`count to 5000${ENTER}`);
  await chat.printed('1 2 3 4');
  chat.send(CTRL_C);
  await chat.printed('(stopped)');
  chat.send(`say still here${ENTER}`);
  await chat.printed('\nstill here\r\n');
  chat.send(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(messagesOf(home)).toMatchObject([
    { role: 'user' },
    { role: 'assistant', stopReason: 'aborted' },
    { role: 'user' },
    { role: 'assistant', stopReason: 'stop' },
  ]);
});

it('does not leave by Ctrl-C', async () => {
  const chat = inTerminal(newHome());
  await chat.printed('› ');

  chat.send(CTRL_C);
  await chat.printed('(Ctrl-D leaves)');
  chat.send(`say hello${ENTER}`);
  await chat.printed('\nhello\r\n');
  chat.send(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
});

it('steers the answer with what is typed meanwhile', async () => {
  const home = newHome();
  const chat = inTerminal(home, ['--model', 'tau/scripted-slow']);
  await chat.printed('› ');

  chat.send(`count to 40${ENTER}`);
  await chat.printed('1 2 3 4');
  chat.send(`say changed my mind${ENTER}`);
  await chat.printed('\nchanged my mind\r\n');
  await chat.printed('39 40');
  chat.send(CTRL_D);
  await chat.finished;

  expect(messagesOf(home).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant']);
});

it('leaves in the middle of an answer with Ctrl-D and keeps what was said', async () => {
  const home = newHome();
  const chat = inTerminal(home, ['--model', 'tau/scripted-slow']);
  await chat.printed('› ');

  chat.send(`count to 5000${ENTER}`);
  await chat.printed('1 2 3 4');
  chat.send(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
  expect(messagesOf(home).at(-1)).toMatchObject({ role: 'assistant', stopReason: 'aborted' });
});

it('is what tau does in a terminal when it is told nothing', async () => {
  const home = newHome();
  const chat = command(home, ['python3', '-c', TERMINAL, process.execPath, TAU]);

  await chat.printed('› ');
  chat.send(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '' });
});

function inTerminal(home: Home, args: readonly string[] = []): Command {
  const program = [process.execPath, TAU, 'chat', ...args];
  return command(home, ['python3', '-c', TERMINAL, ...program], { env: { TERM: 'xterm', NO_COLOR: '1' } });
}

function messagesOf(home: Home) {
  const [path = ''] = sessionFiles(home);
  return stored(path).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}
