import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  type Home,
  NO_RETRY,
  newHome,
  readSessionFile,
  scriptArgs,
  sessionFiles,
  TAU,
  writeSettings,
} from '../../support/agent/test-agent.ts';
import { untilNextPoll } from '../../support/processes/poll.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { startTauInTerminal } from '../../support/processes/terminal.ts';
import { storedMessages } from '../../support/sessions/stored-session.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const textResponses = (...texts: string[]) => texts.map((text) => ({ text }));

const userTexts = (home: Home) =>
  storedMessages(home).flatMap(({ role, content }) => (role === 'user' ? [content[0].text] : []));

it.each([['-p'], ['--print'], ['--mode text'], ['--mode=text -p']])(
  '[Z41 Z62] %s prints only the final text',
  async (flagArgs) => {
    const home = newHome();
    const script = scriptArgs(home, [
      { steps: [{ thinking: 'hm' }, { text: 'Look.' }, { toolCall: { name: 'bash', arguments: { command: 'ls' } } }] },
      { steps: [{ thinking: 'well' }, { text: 'All is well.' }] },
    ]);

    const result = await runTau(home, [...flagArgs.split(' '), 'How is it?', ...script], { input: '' });

    expect(result).toEqual({ code: 0, signal: null, stdout: 'All is well.\n', stderr: '' });
    expect(userTexts(home)).toEqual(['How is it?']);
  },
);

it('[Z62] prompts run one after another in one session, and only the last text is printed', async () => {
  const home = newHome();
  const script = scriptArgs(home, textResponses('one', 'two', 'three\n'));

  const result = await runTau(home, ['-p', 'first', ...script, 'second', '--', '@third'], { input: '' });

  expect(result).toEqual({ code: 0, signal: null, stdout: 'three\n', stderr: '' });
  expect(sessionFiles(home)).toHaveLength(1);
  expect(userTexts(home)).toEqual(['first', 'second', '@third']);
});

it('[Z62] a response without text prints nothing', async () => {
  const home = newHome();
  const script = scriptArgs(home, [{ thinking: 'hm' }]);

  expect(await runTau(home, ['-p', ...script, 'hi'], { input: '' })).toMatchObject({ code: 0, stdout: '', stderr: '' });
});

it.each([
  ['fails', { steps: [{ text: 'Well, ' }, { error: { status: 529, message: 'Overloaded' } }] }, '', '529 Overloaded'],
  ['is cut short', { steps: [{ text: 'half' }, { stop: 'length' }] }, 'half\n', 'The answer was cut: .+'],
])('[Z63] a response that %s is reported on stderr and exits with 1', async (_label, response, stdout, message) => {
  const home = newHome();
  writeSettings(home, NO_RETRY);
  const script = scriptArgs(home, [response, { text: 'never asked' }]);

  const result = await runTau(home, ['-p', ...script, '--no-session', 'hi'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout, stderr: expect.stringMatching(`^tau: ${message}\n$`) });
});

it('[Z63] prompts after a failed one are not run', async () => {
  const home = newHome();

  const result = await runTau(home, ['-p', 'fail', 'say hello'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^tau: 500 .+\n$/) });
  expect(userTexts(home)).toEqual(['fail']);
});

it('[Z63] a rejected prompt exits with 1', async () => {
  const result = await runTau(newHome(), ['-p', '--model', 'anthropic/claude-opus-5-5', 'hi'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^tau: No API key .+\n$/) });
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const)('[Z32 Z33] %s aborts and stores the run and exits with %i', async (signal, code) => {
  const home = newHome();
  const [started, proof] = [join(home.root, 'begun'), join(home.root, 'proof')];
  const run = `touch ${started}; sleep 1000; touch ${proof}`;
  const script = scriptArgs(home, [{ toolCall: { name: 'bash', arguments: { command: run } } }]);
  const { child, finished } = startProgram(home, [process.execPath, TAU, '-p', 'work', ...script], { input: '' });
  while (!existsSync(started)) await untilNextPoll();

  child.kill(signal);

  expect(await finished).toEqual({ code, signal: null, stdout: '', stderr: 'tau: stopped by a signal\n' });
  expect(storedMessages(home).map(({ role }) => role)).toEqual(['user', 'assistant', 'toolResult']);
  expect(existsSync(proof)).toBe(false);
});

it('[Z64] piped input precedes the first prompt, or is the prompt if there is none', async () => {
  const home = newHome();
  const script = () => scriptArgs(home, textResponses('read', 'read'));

  await runTau(home, ['-p', ...script(), 'Review this.', 'And this.'], { input: '\ufeff+ one\r\n+ two ✓\n\n' });
  await runTau(home, ['-p', '--continue', ...script()], { input: 'alone\n' });
  const bare = await runTau(home, ['--continue', ...script()], { input: 'bare\n' });

  expect(bare).toEqual({ code: 0, signal: null, stdout: 'read\n', stderr: '' });
  expect(userTexts(home)).toEqual(['+ one\r\n+ two ✓\n\nReview this.', 'And this.', 'alone', 'bare']);
});

it.each([[['-p']], [[]], [['--mode', 'json', ' ']], [['-p', '']]])(
  '[Z64] %j without a prompt is a usage error',
  async (args) => {
    const home = newHome();

    const result = await runTau(home, args, { input: ' \n' });

    expect(result).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^tau: No prompt: .+\n$/),
    });
    expect(sessionFiles(home)).toEqual([]);
  },
);

it('[Z65] @file inserts texts with their names and attaches images', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'a "b".txt'), 'no end of line');
  writeFileSync(join(home.cwd, 'picture'), Buffer.from(PIXEL, 'base64'));
  writeFileSync(join(home.root, 'notes.md'), '# Notes\n');

  const args = ['-p', '@a "b".txt', 'What is this?', '@picture', '@~/notes.md', 'And then?'];
  const { code } = await runTau(home, [...args, ...scriptArgs(home, textResponses('one', 'two'))], { input: 'piped' });

  const [first, , second] = storedMessages(home);
  expect(code).toBe(0);
  expect(first.content).toEqual([
    {
      type: 'text',
      text: [
        'piped',
        '<file name="a &quot;b&quot;.txt">\nno end of line\n</file>',
        '<image name="picture"/>',
        '<file name="~/notes.md">\n# Notes\n</file>',
        'What is this?',
      ].join('\n\n'),
    },
    { type: 'image', data: PIXEL, mimeType: 'image/png' },
  ]);
  expect(second.content).toEqual([{ type: 'text', text: 'And then?' }]);
});

it.each([
  ['@missing.txt', '@missing.txt: there is no such file'],
  ['@folder', '@folder: it is a folder'],
  ['@binary', '@binary is neither text nor an image'],
  ['@/dev/zero', '@/dev/zero is longer than 8 MiB'],
  ['@', '@ requires the name of a file'],
])('[Z65] %s exits with 2 before a session is created', async (file, message) => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'folder'));
  writeFileSync(join(home.cwd, 'binary'), Buffer.from([1, 0, 255]));

  const result = await runTau(home, ['-p', 'say hello', file], { input: '' });

  expect(result).toEqual({ code: 2, signal: null, stdout: '', stderr: `tau: ${message} (see tau --help)\n` });
  expect(sessionFiles(home)).toEqual([]);
});

it.each([
  ['longer than 8 MiB', 'x'.repeat(9 * 1024 * 1024), /^tau: stdin is longer than 8 MiB .+\n$/],
  ['not text', 'a\0b', /^tau: stdin is neither text nor an image .+\n$/],
])('[Z64] input that is %s is rejected', async (_label, input, stderr) => {
  expect(await runTau(newHome(), ['-p', 'hi'], { input })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(stderr),
  });
});

it('[Z62] --verbose prints tool calls on stderr', async () => {
  const home = newHome();

  const result = await runTau(home, ['-p', '--verbose', 'run `echo hi`'], { input: '' });

  expect(result).toMatchObject({ code: 0, stdout: expect.stringContaining('hi'), stderr: '▸ bash echo hi\n' });
});

it('[Z62] on a terminal tool calls are printed', async () => {
  const { finished, screen } = startTauInTerminal(newHome(), ['-p', 'run `echo hi`']);

  expect(await finished).toMatchObject({ code: 0 });
  expect(screen()).toMatch(/^▸ bash echo hi\nThe tool bash is done\./);
});

it('[Z30] --print exits silently with 0 when its reader closes the pipe', async () => {
  const home = newHome();
  const shell = `{ "$0" "$1" -p 'say hello' < /dev/null; echo $? > code; } | true; cat code`;

  const { stdout, stderr } = await startProgram(home, ['sh', '-c', shell, process.execPath, TAU]).finished;

  expect({ stdout, stderr }).toEqual({ stdout: '0\n', stderr: '' });
  expect(storedMessages(home).map(({ role }) => role)).toEqual(['user', 'assistant']);
});

it('[Z66] --fork continues a copy in the current folder', async () => {
  const home = newHome();
  await runTau(home, ['-p', 'say one'], { input: '' });
  const [original = ''] = sessionFiles(home);
  const before = readSessionFile(original);
  const elsewhere: Home = { ...home, cwd: join(home.root, 'elsewhere') };
  mkdirSync(elsewhere.cwd);

  const forks = [before[0].id.slice(0, 8), original];
  for (const fork of forks) {
    const result = await runTau(elsewhere, ['-p', '--fork', fork, 'say two'], { input: '' });
    expect(result).toMatchObject({ code: 0, stdout: 'two\n', stderr: '' });
  }

  const copies = sessionFiles(home).filter((path) => path !== original);
  expect(copies).toHaveLength(2);
  expect(readSessionFile(original)).toEqual(before);
  for (const copy of copies) {
    const [header, ...entries] = readSessionFile(copy);
    expect(header).toMatchObject({ cwd: elsewhere.cwd, parentSession: original });
    expect(header.id).not.toBe(before[0].id);
    expect(entries.slice(0, before.length - 1)).toEqual(before.slice(1));
    expect(entries.filter(({ type }) => type === 'message')).toHaveLength(4);
  }
});

it.each([
  ['nobody', /^No session found matching 'nobody'\n$/],
  ['./missing.jsonl', /^tau: .+missing\.jsonl.*\n$/],
])('[Z66] --fork %s exits with 1', async (name, stderr) => {
  const home = newHome();

  const result = await runTau(home, ['-p', '--fork', name, 'hi'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(stderr) });
  expect(sessionFiles(home)).toEqual([]);
});

// Its start ends when the prompt has been queued.
const SLOW_EXTENSION = `export default (pi) => pi.on('session_start', (_event, ctx) => new Promise((resolve) => {
  const wait = () => (ctx.hasPendingMessages() ? resolve() : setTimeout(wait, 5));
  wait();
}));`;

it.each([
  ['text', ['-p'], /^Late\.\n$/],
  ['JSON', ['--mode', 'json'], /"type":"agent_settled".*\n$/],
])('[Z92] in %s mode a prompt that waits for the extensions to start is answered', async (_mode, flags, expected) => {
  const home = newHome();
  writeSettings(home, { startWaitMs: 1 });
  writeFileSync(join(home.cwd, 'slow.ts'), SLOW_EXTENSION);

  const args = [...flags, 'go', '-e', 'slow.ts', ...scriptArgs(home, [{ text: 'Late.' }])];
  const { code, stdout } = await runTau(home, args, { input: '' });

  expect(code).toBe(0);
  expect(stdout).toMatch(expected);
});

const printModes = [
  ['text', ['-p']],
  ['JSON', ['--mode', 'json']],
] as const;

describe.each(printModes)('a prompt that waits for the extensions to start, in %s mode', (_mode, flags) => {
  const runSlowly = (home: Home, prompt: string, extension: string, ...args: string[]) => {
    writeSettings(home, { startWaitMs: 1 });
    writeFileSync(join(home.cwd, 'slow.ts'), SLOW_EXTENSION);
    writeFileSync(join(home.cwd, 'more.ts'), `export default (pi) => { ${extension} };`);
    return runTau(home, [...flags, prompt, '-e', 'slow.ts', '-e', 'more.ts', ...args], { input: '' });
  };

  const END = `process.stderr.write('handled\\n')`;
  const CLOSE = `pi.on('session_shutdown', () => process.stderr.write('closed\\n'));`;

  it.each([
    ['an input hook handles it', 'go', `pi.on('input', () => { ${END}; return { action: 'handled' }; }); ${CLOSE}`],
    ['it is a command of an extension', '/foo', `pi.registerCommand('foo', { handler: async () => ${END} }); ${CLOSE}`],
  ])('[Z101] exits with 0 after the clean-up if %s', async (_label, prompt, extension) => {
    const result = await runSlowly(newHome(), prompt, extension);

    expect(result).toMatchObject({ code: 0, stderr: 'handled\nclosed\n' });
    expect(result.stdout).not.toContain('agent_settled');
  });

  it('[Z101] exits with 1 if it cannot start', async () => {
    const result = await runSlowly(newHome(), 'go', '', '--model', 'anthropic/claude-opus-5-5');

    expect(result).toMatchObject({ code: 1, stderr: expect.stringMatching(/^tau: No API key .+\n$/) });
  });
});
