import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { newHome, openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { pathWithPi, runTau, startProgram } from '../../support/processes/program.ts';

const rpcMode = ['--mode', 'rpc'];

it.each([
  ['an unknown long flag', ['--wat']],
  ['an unknown short flag', ['-x']],
  ['an unknown flag with a value', ['--wat=1']],
  ['an unknown flag after good ones', ['--no-session', '--stream', 'delta', '--nope']],
  ['a flag in capitals', ['--MODEL', 'tau/scripted']],
])('[Z25] %s exits with 2, one line on stderr and nothing on stdout', async (_label, args) => {
  const result = await runTau(newHome(), [...rpcMode, ...args], { input: '{"type":"get_state"}\n' });

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
  ['an unknown stream form', [...rpcMode, '--stream', 'big']],
  ['an unknown --on-eof value', [...rpcMode, '--on-eof', 'maybe']],
  ['an unknown thinking level', [...rpcMode, '--thinking', 'loads']],
  ['a flag at the end without its value', [...rpcMode, '--session']],
  ['an empty value', [...rpcMode, '--session-dir', '']],
  ['a switch with a value', [...rpcMode, '--no-session=1']],
  ['a blank name', [...rpcMode, '--name', '  ']],
  ['an invalid session id', [...rpcMode, '--session-id', '../../etc']],
  ['a provider without a model', [...rpcMode, '--provider', 'acme']],
  ['a prompt beside --mode rpc', [...rpcMode, 'hello']],
  ['a missing script', [...rpcMode, '--script', 'missing.jsonl']],
  ['a script that is a folder', [...rpcMode, '--script', '.']],
  ['a script with a bad line', [...rpcMode, '--script', 'bad-script.jsonl']],
  ['a socket without --mode rpc', ['--socket', 'agent.sock']],
  ['a prompt beside chat', ['chat', 'hello']],
])('%s is a usage error: exit code 2 and one line', async (_label, args) => {
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
  ['an unknown session id', ['--session', 'f00d'], /^No session found matching 'f00d'\n$/],
  ['a session in a missing folder', ['--session', './no/where.jsonl'], /^tau: Session not found: .+where\.jsonl.*\n$/],
  ['a session file that is text', ['--session', './notes.txt'], /^tau: Not a session file: .+notes\.txt\n$/],
  ['a session file that is other JSON', ['--session', 'data.jsonl'], /^tau: Not a session file: .+data\.jsonl\n$/],
  ['a session file that is a folder', ['--session', './folder'], /^tau: Not a session file: .+folder\n$/],
  ['an unknown model', ['--model', 'tau/nope'], /^tau: Model "tau\/nope" not found\..+\n$/],
  ['a session folder that is a file', ['--session-dir', 'notes.txt'], /^tau: .+notes\.txt.*\n$/],
  ['a session folder below a file', ['--session-dir', 'notes.txt/a/b'], /^tau: ENOTDIR: .+notes\.txt.*\n$/],
  ['a session folder that cannot be created', ['--session-dir', '/dev/fd/a/b'], /^tau: E[A-Z]+: .+\/dev\/fd\/a.*\n$/],
  ['a socket in a missing folder', ['--socket', 'no/where.sock'], /^tau: cannot listen on no\/where\.sock: .+\n$/],
  [
    'a socket path that is a file',
    ['--socket', 'notes.txt'],
    /^tau: cannot listen on notes\.txt: there is a file already\n$/,
  ],
  ['a socket path that is too long', ['--socket', 'x'.repeat(200)], /^tau: cannot listen on x+: .+\n$/],
])('[Z12] %s cannot be opened: exit code 1 and one line', async (_label, args, message) => {
  const home = newHome();
  const files = { 'notes.txt': 'dear diary\n', 'data.jsonl': '{"type":"note","version":3}\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home.cwd, name), text);
  mkdirSync(join(home.cwd, 'folder'));

  const result = await runTau(home, [...rpcMode, ...args], { input: '{"type":"get_state"}\n' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(message) });
  for (const [name, text] of Object.entries(files)) expect(readFileSync(join(home.cwd, name), 'utf8')).toBe(text);
  expect(sessionFiles(home)).toEqual([]);
});

it.each([
  ['an unknown session', ['--session', 'f00d']],
  ['an unknown model', ['--model', 'nope']],
  ['a session folder that is a file', ['--session-dir', '../script']],
  ['a session folder that cannot be created', ['--session-dir', '/dev/fd/a']],
])('tau chat with %s exits with 1 and one line', async (_label, args) => {
  const home = newHome();
  writeFileSync(join(home.root, 'script'), '');

  const result = await runTau(home, ['chat', ...args], { input: 'hello\n' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^.+\n$/) });
});

it('a session in use is rejected with exit code 1 and one line that names its process', async () => {
  const agent = await openTestAgent('stdio');
  await agent.peer.run('hello');
  const [path = ''] = agent.sessionFiles();

  const result = await runTau(agent.home, [...rpcMode, '--session', path], { input: '' });

  const stderr = `tau: Session is in use by process ${agent.process?.pid}: ${path}\n`;
  expect(result).toEqual({ code: 1, signal: null, stdout: '', stderr });
});

it('[Z19] @file is rejected before the file is read', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'secret.txt'), 'hunter2');

  const result = await runTau(home, [...rpcMode, '@secret.txt'], { input: '' });

  expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.not.stringContaining('hunter2') });
});

it.each([['--version'], ['-v'], ['--mode rpc --version']])('[Z82] %s prints only the version', async (commandLine) => {
  const result = await runTau(newHome(), commandLine.split(' '));

  expect(result).toEqual({ code: 0, signal: null, stdout: `${packageJson.version}\n`, stderr: '' });
});

it.each([['--version'], ['-v']])('[Z82] pi %s prints only the version of pi that tau offers', async (flag) => {
  const home = newHome();

  const result = await startProgram(home, ['pi', flag], { env: pathWithPi(home), input: '' }).finished;

  expect(result).toEqual({ code: 0, signal: null, stdout: '1.5.0\n', stderr: '' });
});
