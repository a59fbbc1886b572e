import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { engineOptions } from './engine-options.ts';
import { parseFlags } from './flags/parse-flags.ts';

it.each([
  [[], undefined],
  [['--tools', 'read, web_*,,+bash,-write'], { patterns: ['read', 'web_*', '+bash', '-write'] }],
  [['-t', 'read', '-xt', 'bash'], { patterns: ['read'], excluded: ['bash'] }],
  [['-nt'], { patterns: [] }],
  [['-nbt', '--exclude-tools=bash'], { builtin: false, excluded: ['bash'] }],
])('%j selects the tools %j', async (argv, tools) => {
  expect((await engineOptions(parseFlags(argv))).tools).toEqual(tools);
});

it.each([
  [[], undefined],
  [['-nc'], { contextFiles: false }],
  [['--system-prompt', 'Be a pirate.'], { system: 'Be a pirate.' }],
  [['--append-system-prompt', 'One.', '--append-system-prompt=- Two.'], { append: ['One.', '- Two.'] }],
])('%j sets the prompt %j', async (argv, prompt) => {
  expect((await engineOptions(parseFlags(argv))).prompt).toEqual(prompt);
});

it('a prompt flag that names a file reads the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tau-options-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'prompt.md');
  writeFileSync(path, 'Be brief.\n');

  const { prompt } = await engineOptions(parseFlags(['--system-prompt', path, '--append-system-prompt', path]));

  expect(prompt).toEqual({ system: 'Be brief.\n', append: ['Be brief.\n'] });
});

it('the log flags are parsed', () => {
  expect(parseFlags(['--log-level', 'debug', '--log-file', 'tau.log'])).toMatchObject({
    'log-level': 'debug',
    'log-file': 'tau.log',
  });
});
