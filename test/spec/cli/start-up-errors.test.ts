import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { runTau } from '../../support/processes/program.ts';
import { newHome, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';

const inMode = ['--mode', 'rpc'];

it.each([
  ['an unknown long flag', ['--wat']],
  ['an unknown short flag', ['-x']],
  ['an unknown flag with a value', ['--wat=1']],
  ['an unknown flag after good ones', ['--no-session', '--stream', 'delta', '--nope']],
  ['a flag in capitals', ['--MODEL', 'tau/scripted']],
])('[Z25] %s ends with 2, one line on stderr and nothing on stdout', async (_what, args) => {
  const result = await runTau(newHome(), [...inMode, ...args], { input: '{"type":"get_state"}\n' });

  expect(result).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^tau: Unknown option: \S+ .+\n$/),
  });
  expect(result.stderr).toContain(args.find((arg) => /wat|-x|nope|MODEL/.test(arg))?.split('=')[0]);
});

it.each([
  ['a mode without a value', ['--mode']],
  ['an unknown mode', ['--mode', 'morse']],
  ['an unknown command', ['sing']],
  ['an unknown form of streaming', [...inMode, '--stream', 'big']],
  ['an unknown end', [...inMode, '--on-eof', 'maybe']],
  ['an unknown thinking level', [...inMode, '--thinking', 'loads']],
  ['a flag at the end without its value', [...inMode, '--session']],
  ['an empty value', [...inMode, '--session-dir', '']],
  ['a switch with a value', [...inMode, '--no-session=1']],
  ['a name of blanks', [...inMode, '--name', '  ']],
  ['a session id that is no file name', [...inMode, '--session-id', '../../etc']],
  ['a provider without a model', [...inMode, '--provider', 'acme']],
  ['words beside --mode rpc', [...inMode, 'hello']],
  ['a script that is not there', [...inMode, '--script', 'missing.jsonl']],
  ['a script that is a folder', [...inMode, '--script', '.']],
  ['a script with a bad line', [...inMode, '--script', 'bad-script.jsonl']],
  ['a socket without --mode rpc', ['--socket', 'agent.sock']],
  ['words beside chat', ['chat', 'hello']],
])('%s is a wrong use: exit code 2 and one line', async (_what, args) => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'bad-script.jsonl'), '{"text":"ok"}\n{"shout":"no"}\n');

  const result = await runTau(home, args, { input: '{"type":"get_state"}\n' });

  expect(result).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringMatching(/^tau: .+ \(see tau --help\)\n$/),
  });
  expect(sessionFiles(home)).toEqual([]);
});

it.each([
  ['a session id that nobody has', ['--session', 'f00d'], /^No session found matching 'f00d'\n$/],
  [
    'a session in a folder that is not there',
    ['--session', './no/where.jsonl'],
    /^tau: Session not found: .+where\.jsonl.*\n$/,
  ],
  ['a session file that is text', ['--session', './notes.txt'], /^tau: Not a session file: .+notes\.txt\n$/],
  ['a session file that is other JSON', ['--session', 'data.jsonl'], /^tau: Not a session file: .+data\.jsonl\n$/],
  ['a session file that is a folder', ['--session', './folder'], /^tau: Not a session file: .+folder\n$/],
  ['an unknown model', ['--model', 'tau/nope'], /^tau: Model "tau\/nope" not found\..+\n$/],
  ['sessions in a file', ['--session-dir', 'notes.txt'], /^tau: .+notes\.txt.*\n$/],
  ['sessions below a file', ['--session-dir', 'notes.txt/a/b'], /^tau: ENOTDIR: .+notes\.txt.*\n$/],
  ['sessions where no folder can be made', ['--session-dir', '/dev/fd/a/b'], /^tau: E[A-Z]+: .+\/dev\/fd\/a.*\n$/],
  [
    'a socket in a folder that is not there',
    ['--socket', 'no/where.sock'],
    /^tau: cannot listen on no\/where\.sock: .+\n$/,
  ],
  [
    'a socket path that is taken',
    ['--socket', 'notes.txt'],
    /^tau: cannot listen on notes\.txt: there is a file already\n$/,
  ],
  ['a socket path that is too long', ['--socket', 'x'.repeat(200)], /^tau: cannot listen on x+: .+\n$/],
])('[Z12] %s cannot be opened: exit code 1 and one line', async (_what, args, message) => {
  const home = newHome();
  const files = { 'notes.txt': 'dear diary\n', 'data.jsonl': '{"type":"note","version":3}\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home.cwd, name), text);
  mkdirSync(join(home.cwd, 'folder'));

  const result = await runTau(home, [...inMode, ...args], { input: '{"type":"get_state"}\n' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  for (const [name, text] of Object.entries(files)) expect(readFileSync(join(home.cwd, name), 'utf8')).toBe(text);
  expect(sessionFiles(home)).toEqual([]);
});

it.each([
  ['an unknown session', ['--session', 'f00d']],
  ['an unknown model', ['--model', 'nope']],
  ['sessions in a file', ['--session-dir', '../script']],
  ['sessions where no folder can be made', ['--session-dir', '/dev/fd/a']],
])('tau chat with %s ends with 1 and one line too', async (_what, args) => {
  const home = newHome();
  writeFileSync(join(home.root, 'script'), '');

  const result = await runTau(home, ['chat', ...args], { input: 'hello\n' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
});

it('a session in use is refused with exit code 1 and one line that names the holder', async () => {
  const agent = await openTestAgent('stdio');
  await agent.peer.run('hello');
  const [path = ''] = agent.sessionFiles();

  const result = await runTau(agent.home, [...inMode, '--session', path], { input: '' });

  const stderr = `tau: Session is in use by process ${agent.process?.pid}: ${path}\n`;
  expect(result).toEqual({ code: 1, signal: null, stdout: '', stderr });
});

it('[Z19] @file is refused before anything of the file is read or printed', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'secret.txt'), 'hunter2');

  const result = await runTau(home, [...inMode, '@secret.txt'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.not.stringContaining('hunter2') });
});

it.each([['--version'], ['-v'], ['--mode rpc --version']])('%s prints the version alone', async (words) => {
  const result = await runTau(newHome(), words.split(' '));

  expect(result).toEqual({ code: 0, signal: null, stdout: `${packageJson.version}\n`, stderr: '' });
});
