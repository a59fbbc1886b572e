import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { flags } from '../../../src/cli/flags/flags.ts';
import { environment, exitCodes } from '../../../src/cli/help/environment.ts';
import { topics } from '../../../src/cli/help/topics.ts';
import { newHome } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/command-line.md'), 'utf8');

it.each([['--help'], ['-h'], ['help']])('%s is short and lists all topics and commands', async (word) => {
  const { code, stdout, stderr } = await runTau(newHome(), [word]);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout.split('\n').length).toBeLessThan(52);
  for (const name of [...Object.keys(topics), ...Object.keys(commands)]) expect(stdout).toMatch(rowOf(name));
});

it.each(Object.keys({ ...topics, ...commands }))('tau help %s fits 80 columns', async (topic) => {
  const { code, stdout, stderr } = await runTau(newHome(), ['help', topic]);

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^\S|^ {2}\S/);
  expect(stdout).toMatch(/\S\n$/);
  for (const line of stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});

it('--help after a command shows the help of the command', async () => {
  const { stdout } = await runTau(newHome(), ['completion', '--help']);

  expect(stdout).toContain('tau completion');
  expect(stdout).toMatch(rowOf('zsh'));
});

it.each([
  ['serve', ['--port <number>', '--socket <path>', '--log-file <path>', '--no-extensions']],
  ['attach', ['--url <address>', '-c, --continue']],
  ['token', ['--scope <list>', '-n, --name <name>']],
  [
    'cluster',
    [
      '--max-bytes <size>',
      '--lease-seconds',
      '--nats-nkey',
      '--nats-monitor',
      '--node',
      '--json',
      '--cluster-replicas',
    ],
  ],
])('tau help %s lists its flags, and so does --help after it', async (word, flagNames) => {
  const pages = [await runTau(newHome(), ['help', word]), await runTau(newHome(), [word, '--help'])];

  expect(pages[0]).toEqual(pages[1]);
  for (const flag of flagNames) expect(pages[0]?.stdout).toContain(flag);
});

it('tau help options lists every flag', async () => {
  const { stdout } = await runTau(newHome(), ['help', 'options']);

  for (const flag of Object.keys(flags)) expect(stdout).toMatch(new RegExp(`(^|[ ,])--${flag}\\b`, 'm'));
});

it.each([
  ['mdoels', 'No help about mdoels, did you mean models? (see tau --help)'],
  ['love', `No help about love: there is ${Object.keys(topics).join(', ')} (see tau --help)`],
  ['toString', `No help about toString: there is ${Object.keys(topics).join(', ')} (see tau --help)`],
])('the unknown topic %s is a usage error', async (topic, message) => {
  const result = await runTau(newHome(), ['help', topic]);

  expect(result).toMatchObject({ code: 2, stdout: '', stderr: `tau: ${message}\n` });
});

it('docs/command-line.md lists the exit codes and environment variables of the help', () => {
  for (const [name, about] of Object.entries({ ...exitCodes, ...environment })) {
    const row = page.split('\n').find((line) => line.startsWith(`| ${name} |`) || line.startsWith(`| \`${name}\` |`));
    expect(row).toContain(about);
  }
});

/** Matches a line that starts with this word. */
const rowOf = (word: string) => new RegExp(`^ {2}${word}\\b`, 'm');
