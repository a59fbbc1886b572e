import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, sessionFiles, TAU } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

const usageError = (message: string) => ({
  code: 2,
  signal: null,
  stdout: '',
  stderr: `tau: ${message} (see tau --help)\n`,
});

it.each([
  ['--modle x', 'Unknown option: --modle, did you mean --model?'],
  ['--no-sesion', 'Unknown option: --no-sesion, did you mean --no-session?'],
  ['--sesion=x', 'Unknown option: --sesion, did you mean --session?'],
  ['--zzz', 'Unknown option: --zzz'],
  ['-z', 'Unknown option: -z'],
  ['caht', 'Unknown command: caht, did you mean chat?'],
  ['sing', 'Unknown command: sing; to send it as a prompt: tau -p "sing"'],
  ['toString', 'Unknown command: toString; to send it as a prompt: tau -p "toString"'],
])('[Z25] tau %s suggests a correction', async (commandLine, message) => {
  expect(await runTau(newHome(), commandLine.split(' '), { input: '' })).toEqual(usageError(message));
});

it.each([
  ['--session a --no-session', '--session and --no-session contradict each other'],
  ['--continue --session a', '--session and --continue contradict each other'],
  ['--session-id a --session b', '--session and --session-id contradict each other'],
  ['--fork a --continue', '--continue and --fork contradict each other'],
  ['--fork a --no-session', '--fork and --no-session contradict each other'],
  ['-t read -nt', '--tools and --no-tools contradict each other'],
  ['-t read -nbt', '--tools and --no-builtin-tools contradict each other'],
  ['-a -na', '--approve and --no-approve contradict each other'],
  ['--mode rpc -p', '--print and --mode rpc contradict each other'],
  ['-p --socket s', '--socket goes with --mode rpc, tau serve and tau attach'],
  ['-p --on-eof abort', '--on-eof goes with --mode rpc'],
  [
    '-p --json',
    '--json goes with tau sessions and tau approvals and tau doctor and tau token and tau mcp and tau cluster',
  ],
  ['--mode rpc --all', '--all goes with tau sessions and tau approvals'],
  ['chat --port 1', '--port goes with tau serve'],
  ['--mode rpc --token-file f', '--token-file goes with tau attach'],
  ['sessions --cwd .', '--cwd goes with tau serve and tau attach'],
])('[Z60] %s is rejected before a session is created', async (commandLine, message) => {
  const home = newHome();

  expect(await runTau(home, [...commandLine.split(' '), '--name', 'x'], { input: 'say hello' })).toEqual(
    usageError(message),
  );
  expect(sessionFiles(home)).toEqual([]);
});

it.each([
  ['--mode', '--mode requires a value: text, json, rpc'],
  ['--mode morse', '--mode must be one of text, json, rpc, not "morse"'],
  ['--log-level loud', '--log-level must be one of error, warn, info, debug, not "loud"'],
  ['--session --continue', '--session requires a value'],
  ['--no-tools=all', '--no-tools takes no value'],
  ['--system-prompt .', '--system-prompt: EISDIR: illegal operation on a directory, read'],
  ['--tools ,', '--tools requires a value'],
  ['--tools read,bogus', 'There is no tool bogus: there is read, bash, edit, write, grep, find, ls, todo'],
  ['-xt bogus', 'There is no tool bogus: there is read, bash, edit, write, grep, find, ls, todo'],
  ['help tools extra', 'tau help takes one word, not "extra" too'],
  ['chat @notes.txt', '@notes.txt goes with a prompt'],
  ['export abc -', 'tau export writes a file: give it a name'],
  ['completion', 'tau completion takes bash, zsh, fish'],
  ['completion csh', 'tau completion takes bash, zsh, fish'],
])('[Z60] %s is a usage error', async (commandLine, message) => {
  expect(await runTau(newHome(), ['--name', 'x', ...commandLine.split(' ')], { input: 'hi' })).toEqual(
    usageError(message),
  );
});

it.each([
  [['-p', 'say hello'], ''],
  [['--mode', 'json', 'say hello'], ''],
  [['--mode', 'rpc'], '{"type":"get_state"}\n'],
  [['--help'], ''],
  [['sessions'], ''],
])('[Z69] tau %j fails with a message when the disk is full', async (args, input) => {
  const shell = ['/bin/sh', '-c', '"$@" >/dev/full', 'sh', process.execPath, TAU, ...args];
  const { code, stderr } = await startProgram(newHome(), shell, { input }).finished;

  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'tau: Could not write to stdout: ENOSPC: no space left on device, write\n',
  });
});

it('[Z60 Z71] --resume without a terminal is a usage error', async () => {
  expect(await runTau(newHome(), ['--resume'], { input: 'hi' })).toEqual(
    usageError('--resume needs a terminal; use --continue or --session <id>'),
  );
});

it.each([
  ['say', 'hello  world'],
  ['--', 'hello'],
])('[Z70] tau %s %s runs a prompt like -p', async (...commandLine) => {
  const args = commandLine[0] === '--' ? commandLine : [commandLine.join(' ')];
  const { code, stdout } = await runTau(newHome(), [...args], { input: '' });

  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('hello') });
});

it('[Z70] an @file alone is a prompt like with -p', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'task.txt'), 'say hello');

  const { code, stdout } = await runTau(home, ['@task.txt'], { input: '' });

  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
  expect(readFileSync(sessionFiles(home)[0] ?? '', 'utf8')).toContain('<file name=\\"task.txt\\">\\nsay hello');
});

it('--print-system-prompt prints the system prompt and creates no session', async () => {
  const home = newHome();

  const { code, stdout, stderr } = await runTau(home, ['--print-system-prompt']);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain(`The working directory is ${home.cwd}\n`);
  expect(sessionFiles(home)).toEqual([]);
});

it('a value after an equals sign may look like a flag', async () => {
  const home = newHome();
  writeFileSync(join(home.cwd, 'script.jsonl'), '{"text":"ok"}\n');

  const result = await runTau(home, ['-p', '--script=script.jsonl', '--name=--continue', '--', '--help'], {
    input: '',
  });

  expect(result).toMatchObject({ code: 0, stdout: 'ok\n', stderr: '' });
});
