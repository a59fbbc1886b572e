import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { type Flag, flags } from '../../../src/cli/flags/flags.ts';
import { topics } from '../../../src/cli/help/topics.ts';
import { runTau } from '../../support/processes/program.ts';
import { environment, newHome } from '../../support/agent/test-agent.ts';

const script = async (shell: string) => (await runTau(newHome(), ['completion', shell])).stdout;

const inEffect = Object.entries<Flag>(flags).filter(([, flag]) => !flag.ignored);

/** Fills in what bash does when the tab key is pressed after these words. */
const TAB = `
  eval "$(cat)"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _tau
  printf '%s\\n' "\${COMPREPLY[@]}"`;

it.each([
  ['a command', ['ch'], ['chat']],
  ['every command', [''], Object.keys(commands)],
  ['every option', ['--'], inEffect.map(([name]) => `--${name}`)],
  ['an option after a command', ['chat', '--no-ses'], ['--no-session']],
  ['what goes with a command', ['serve', '--mo'], ['--models', '--model']],
  ['nothing that does not', ['attach', '--mo'], ['']],
  ['what goes with it, wherever', ['--port', '0', 'serve', '--no-s'], ['--no-skills']],
  ['a choice', ['--mode', ''], ['text', 'json', 'rpc']],
  ['the beginning of a choice', ['--log-level', 'w'], ['warn']],
  ['a choice after an equals sign', ['--mode', '=', 'j'], ['json']],
  ['every choice after an equals sign', ['--stream', '='], ['cumulative', 'delta']],
  ['a command after a value', ['--mode', 'rpc', 'comp'], ['completion']],
  ['nothing where only the user knows', ['--name', ''], ['']],
  ['a file for a path', ['--script', ''], ['a file.txt', 'folder']],
  ['a file for a text or a file', ['--system-prompt', 'a'], ['a file.txt']],
  ['a folder only', ['--session-dir', ''], ['folder']],
  ['a file after @', ['-p', '@a'], ['@a file.txt']],
  ['a topic', ['help', 'mod'], ['modes', 'models']],
  ['every topic', ['help', ''], Object.keys(topics)],
  ['a shell', ['completion', 'z'], ['zsh']],
  ['what to do with sessions', ['sessions', 'r'], ['rm', 'rename', 'restore']],
  ['that once', ['sessions', 'rm', ''], ['']],
])('[Z68] bash completes %s', async (_what, words, expected) => {
  const { cwd, ...home } = newHome();
  writeFileSync(join(cwd, 'a file.txt'), '');
  mkdirSync(join(cwd, 'folder'));

  const completed = execFileSync('bash', ['-c', TAB, 'bash', 'tau', ...words], {
    cwd,
    env: environment({ cwd, ...home }),
    input: await script('bash'),
    encoding: 'utf8',
  });

  expect(completed.slice(0, -1).split('\n').sort()).toEqual([...expected].sort());
});

it('[Z68] fish is told every command, every option with its choices, and short names of any length', async () => {
  const lines = (await script('fish')).trimEnd().split('\n');

  for (const [name, { short }] of inEffect) {
    const line = lines.find((text) => new RegExp(` -l ${name} `).test(text));
    expect(line).toContain(short ? ` -${short.length === 1 ? 's' : 'o'} ${short} ` : ' ');
  }
  for (const name of Object.keys(commands)) expect(lines.join('\n')).toContain(` -a '${name}' `);
  const elsewhere = "-n 'not __fish_seen_subcommand_from serve attach token'";
  expect(lines).toContain(`complete -c tau ${elsewhere} -l mode -x -a 'text json rpc' -d 'How to run'`);
  expect(lines.every((line) => line.startsWith('#') || isClosed(line))).toBe(true);
});

it('[Z68] zsh is told every command, every option and its choices', async () => {
  const text = await script('zsh');

  expect(text).toMatch(/^#compdef tau\n/);
  for (const [name] of inEffect) expect(text).toMatch(new RegExp(`[{,']--${name}\\b`));
  for (const name of Object.keys(commands)) expect(text).toContain(`'${name}:`);
  expect(text).toContain(`    '--mode=[How to run]:mode:(text json rpc)'\n`);
  expect(text).toContain(`    '(-n --name)'{-n,--name=}'[Name the session, or the token]:name: '\n`);
  expect(text.split('\n').every(isClosed)).toBe(true);
});

/** Every quote that is opened in a line is closed in it. */
const isClosed = (line: string) => (line.replaceAll(/\\'/g, '').match(/'/g) ?? []).length % 2 === 0;
