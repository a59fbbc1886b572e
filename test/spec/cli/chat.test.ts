import { expect, it } from 'vitest';
import { NO_RETRY, newHome, sessionFiles, TAU, writeSettings } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

it('blank input runs no prompt and creates no session', async () => {
  const home = newHome();

  expect(await runTau(home, ['chat'], { input: '\n' })).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(sessionFiles(home)).toEqual([]);
});

it('tau chat runs each line of its input as a prompt, one after another', async () => {
  const home = newHome();
  writeSettings(home, NO_RETRY);

  const { code, stdout, stderr } = await runTau(home, ['chat'], { input: 'say hello\r\n\n  \nfail\nsay goodbye' });

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const printedLines = stdout.split('\n').filter((line) => /^(›|hello|goodbye|\(failed)/.test(line));
  expect(printedLines).toEqual([
    '› say hello',
    'hello',
    '› fail',
    expect.stringMatching(/^\(failed: 500 .+\)$/),
    '› say goodbye',
    'goodbye',
  ]);
  expect(storedMessages(home).map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'user',
    'assistant',
    'user',
    'assistant',
  ]);
});

it('tau chat answers a line before the next line arrives', async () => {
  const chat = startProgram(newHome(), [process.execPath, TAU, 'chat']);

  chat.send('say hel');
  chat.send('lo\n');
  await chat.waitForOutput('\nhello\n');
  chat.send('say 再見');
  chat.child.stdin?.end();

  expect(await chat.finished).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/\n再見\n$/) });
});

it('tau chat prints no colours without a terminal', async () => {
  const { stdout } = await runTau(newHome(), ['chat'], { input: 'think about the sea then list the files\n' });

  expect(stdout).not.toContain('\u001B');
});

it('tau chat prints one line for a rejected prompt, continues, and exits with 1', async () => {
  const { code, stdout, stderr } = await runTau(newHome(), ['chat', '--model', 'anthropic/claude-opus-5-5'], {
    input: 'one\ntwo\n',
  });

  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  expect(stdout).toMatch(/^› one\nNo API key found for anthropic.*\n› two\nNo API key found for anthropic.*\n$/);
});

it('[Z30] tau chat exits silently with 0 when its reader closes the pipe', async () => {
  const home = newHome();
  const shell = `{ echo 'count to 50000' | "$0" "$1" chat; echo $? > code; } | head -n 1; cat code`;

  const { stdout, stderr } = await startProgram(home, ['sh', '-c', shell, process.execPath, TAU]).finished;

  expect({ stdout, stderr }).toEqual({ stdout: '› count to 50000\n0\n', stderr: '' });
  expect(storedMessages(home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});
