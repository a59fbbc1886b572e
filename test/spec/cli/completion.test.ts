import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../../src/cli/commands.ts';
import { type Flag, flags } from '../../../src/cli/flags/flags.ts';
import { topics } from '../../../src/cli/help/topics.ts';
import { environment, newHome } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';

const script = async (shell: string) => (await runTau(newHome(), ['completion', shell])).stdout;

const activeFlags = Object.entries<Flag>(flags).filter(([, flag]) => !flag.ignored);

/** Sets what bash sets when the tab key is pressed after these words. */
const PRESS_TAB = `
  eval "$(cat)"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
  _tau
  printf '%s\\n' "\${COMPREPLY[@]}"`;

it.each([
  ['a command', ['ch'], ['chat']],
  ['every command', [''], Object.keys(commands)],
  ['every option', ['--'], activeFlags.map(([name]) => `--${name}`)],
  ['an option after a command', ['chat', '--no-ses'], ['--no-session']],
  ['the flags of a command', ['serve', '--mo'], ['--models', '--model']],
  ['no flag of another command', ['attach', '--mo'], ['']],
  ['the flags of a command after other flags', ['--port', '0', 'serve', '--no-s'], ['--no-skills']],
  ['a choice', ['--mode', ''], ['text', 'json', 'rpc']],
  ['the prefix of a choice', ['--log-level', 'w'], ['warn']],
  ['a choice after an equals sign', ['--mode', '=', 'j'], ['json']],
  ['every choice after an equals sign', ['--stream', '='], ['cumulative', 'delta']],
  ['a command after a value', ['--mode', 'rpc', 'comp'], ['completion']],
  ['nothing for a free text', ['--name', ''], ['']],
  ['a file for a path', ['--script', ''], ['a file.txt', 'folder']],
  ['a file for a text or a file', ['--system-prompt', 'a'], ['a file.txt']],
  ['a folder only', ['--session-dir', ''], ['folder']],
  ['a file after @', ['-p', '@a'], ['@a file.txt']],
  ['a topic', ['help', 'mod'], ['modes', 'models']],
  ['every topic', ['help', ''], Object.keys(topics)],
  ['a shell', ['completion', 'z'], ['zsh']],
  ['the actions of tau sessions', ['sessions', 'r'], ['rm', 'rename', 'restore']],
  ['an action only once', ['sessions', 'rm', ''], ['']],
])('[Z68] bash completes %s', async (_label, words, expected) => {
  const { cwd, ...home } = newHome();
  writeFileSync(join(cwd, 'a file.txt'), '');
  mkdirSync(join(cwd, 'folder'));

  const completed = execFileSync('bash', ['-c', PRESS_TAB, 'bash', 'tau', ...words], {
    cwd,
    env: environment({ cwd, ...home }),
    input: await script('bash'),
    encoding: 'utf8',
  });

  expect(completed.slice(0, -1).split('\n').sort()).toEqual([...expected].sort());
});

it('[Z68] the fish script lists every command and every option with choices and short names', async () => {
  const lines = (await script('fish')).trimEnd().split('\n');

  for (const [name, { short }] of activeFlags) {
    const line = lines.find((text) => new RegExp(` -l ${name} `).test(text));
    expect(line).toContain(short ? ` -${short.length === 1 ? 's' : 'o'} ${short} ` : ' ');
  }
  for (const name of Object.keys(commands)) expect(lines.join('\n')).toContain(` -a '${name}' `);
  const elsewhere = "-n 'not __fish_seen_subcommand_from serve attach token cluster'";
  expect(lines).toContain(`complete -c tau ${elsewhere} -l mode -x -a 'text json rpc' -d 'How to run'`);
  expect(lines.every((line) => line.startsWith('#') || hasClosedQuotes(line))).toBe(true);
});

it('[Z68] the zsh script lists every command and every option with choices', async () => {
  const text = await script('zsh');

  expect(text).toMatch(/^#compdef tau\n/);
  for (const [name] of activeFlags) expect(text).toMatch(new RegExp(`[{,']--${name}\\b`));
  for (const name of Object.keys(commands)) expect(text).toContain(`'${name}:`);
  expect(text).toContain(`    '--mode=[How to run]:mode:(text json rpc)'\n`);
  expect(text).toContain(`    '(-n --name)'{-n,--name=}'[Name the session, or the token]:name: '\n`);
  expect(text.split('\n').every(hasClosedQuotes)).toBe(true);
});

/** True if every quote in the line is closed. */
const hasClosedQuotes = (line: string) => (line.replaceAll(/\\'/g, '').match(/'/g) ?? []).length % 2 === 0;
