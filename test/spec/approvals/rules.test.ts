import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { approvalFlags, bashTurn, commandOutcomes, nextQuestion } from '../../support/agent/approvals.ts';
import { type Home, newHome, type OpenOptions } from '../../support/agent/test-agent.ts';
import { toolEnds } from '../../support/tools/host-tools.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

interface Rules {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
}

/** The outcome of each command in a mode with these rules, in one run. */
async function outcomesOf(
  { open }: AgentFixture,
  commands: readonly string[],
  { rules, mode = 'ask', ...options }: OpenOptions & { rules: Rules; mode?: Parameters<typeof approvalFlags>[0] },
): Promise<Record<string, string>> {
  const { peer } = await open({
    args: approvalFlags(mode),
    settings: { approvals: rules },
    script: [bashTurn(...commands), { text: 'done' }],
    ...options,
  });
  return commandOutcomes(peer, commands);
}

const all = (outcome: string, commands: readonly string[]) =>
  Object.fromEntries(commands.map((command) => [command, outcome]));

verifies(
  'A135',
  'a rule for bash covers its words, with a last * any further words of the same command',
  async (fixture) => {
    const allowed = [
      'git diff',
      'git diff HEAD -- a',
      'git \'diff\' "HEAD"',
      'git  diff',
      '/bin/echo a b',
      'echo exactly',
    ];
    const questioned = [
      'git difftool',
      'git -c x=y diff',
      './git diff',
      'git',
      'git log',
      'echo exactly this',
      'echo exact',
      'echo',
      'git diff\tHEAD',
      'GIT diff',
    ];

    const outcomes = await outcomesOf(fixture, [...allowed, ...questioned], {
      rules: { allow: ['bash(git diff *)', 'bash(/bin/echo a *)', 'bash(echo exactly)'] },
    });

    expect(outcomes).toEqual({ ...all('ran', allowed), ...all('questioned', questioned) });
  },
);

verifies('A135', 'a rule does not cover a program that the workspace can replace', async (fixture) => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'bin'));
  writeFileSync(join(home.cwd, 'bin', 'tool'), '#!/bin/sh\ntouch "$PWD/ran"\n', { mode: 0o755 });

  const outcomes = await outcomesOf(fixture, ['tool x', 'echo y'], {
    home,
    env: { PATH: `${join(home.cwd, 'bin')}:${process.env['PATH']}` },
    rules: { allow: ['bash(tool *)', 'bash(ls *)'] },
  });

  expect(outcomes).toEqual({ 'tool x': 'questioned', 'echo y': 'questioned' });
  expect(existsSync(join(home.cwd, 'ran'))).toBe(false);
});

verifies('A136', 'a line is allowed if each of its commands is', async (fixture) => {
  const allowed = [
    'echo test && echo run lint',
    'echo test; echo run lint',
    'echo test | echo test || echo test',
    'echo "test"',
  ];
  const questioned = [
    'echo test && curl x',
    'curl x; echo test',
    'echo test | sh',
    'echo test & echo test',
    'echo test\necho test',
    'echo test > file',
    'echo test < /etc/passwd',
    'echo $(echo test)',
    'echo `echo test`',
    'echo test$IFS',
    'X=1 echo test',
    '(echo test)',
    '{ echo test; }',
    'eval echo test',
    'command echo test',
    'exec echo test',
    'if true; then echo test; fi',
    '! echo test',
    'echo test # comment',
    'echo tes?',
    'echo te{s,s}t',
    'echo test\u00A0',
    '\u200Becho test',
    `echo test; ${'true; '.repeat(2000)}`,
  ];

  const outcomes = await outcomesOf(fixture, [...allowed, ...questioned], {
    rules: { allow: ['bash(echo test)', 'bash(echo run lint)', 'bash(true)'] },
  });

  expect(outcomes).toEqual({ ...all('ran', allowed), ...all('questioned', questioned) });
});

verifies(
  'A136',
  'cd into the folder of the session is left out, and into another one is not plain',
  async (fixture) => {
    const home = newHome();
    const inside = `cd ${home.cwd} && echo test`;
    const outside = `cd ${home.root} && echo test`;

    const outcomes = await outcomesOf(fixture, [inside, 'cd . && echo test', outside, 'cd .. && echo test'], {
      home,
      rules: { allow: ['bash(echo test)'] },
    });

    expect(Object.values(outcomes)).toEqual(['ran', 'ran', 'questioned', 'questioned']);
  },
);

verifies('A136', 'a rule for the whole tool allows every line', async (fixture) => {
  expect(await outcomesOf(fixture, ['echo $HOME > made'], { rules: { allow: ['bash'] } })).toEqual({
    'echo $HOME > made': 'ran',
  });
});

const INDIRECT = 's=su; "$s"do ls';

const SUDO = { deny: ['bash(sudo *)'], allow: ['bash', 'bash(sudo *)', 'bash(true)'] };

for (const mode of ['plan', 'ask', 'auto', 'full'] as const)
  verifies('A137', `in the mode ${mode} a rule that denies comes before every other`, async (fixture) => {
    const denied = ['sudo ls', 'true; sudo ls', 'true && sudo', '/usr/bin/sudo ls', "'sudo' ls", 'true | sudo tee x'];
    const hidden = ['echo $(sudo ls)', 'X=1 sudo ls', 'su\\do ls', 'if true; then sudo ls; fi', 'true\nsudo ls'];

    const outcomes = await outcomesOf(fixture, [...denied, ...hidden], { rules: SUDO, mode });

    expect(outcomes).toEqual(all('denied', [...denied, ...hidden]));
  });

verifies(
  'A137',
  'where commands are denied, a line that cannot be read is questioned in every mode',
  async (fixture) => {
    const outcomes = await outcomesOf(fixture, ['true', 'echo $HOME', INDIRECT], {
      rules: SUDO,
      mode: 'full',
    });

    expect(outcomes).toEqual({ true: 'ran', 'echo $HOME': 'questioned', [INDIRECT]: 'questioned' });
  },
);

verifies('A137', 'a denied call names its rule, and no approval of the session lifts it', async ({ open }) => {
  const { peer } = await open({
    args: approvalFlags('full'),
    settings: { approvals: { deny: ['bash(sudo *)', 'write'] } },
    script: [
      bashTurn('sudo ls'),
      { toolCall: { name: 'write', arguments: { path: 'a', content: '' } } },
      { text: 'done' },
    ],
  });

  await peer.run('go');

  expect(toolEnds(peer.records)).toMatchObject([
    { isError: true, text: expect.stringContaining('bash(sudo *)'), details: { denied: true } },
    { isError: true, text: expect.stringContaining('rule write'), details: { denied: true } },
  ]);
});

verifies('A137', 'a rule that asks holds in the mode full and before rules that allow', async ({ open }) => {
  const { peer } = await open({
    args: approvalFlags('full'),
    settings: { approvals: { ask: ['bash(echo push *)'], allow: ['bash(echo *)'] } },
    script: [bashTurn('echo push now', 'echo pull'), { text: 'done' }],
  });

  const outcomes = await commandOutcomes(peer, ['echo push now', 'echo pull']);

  expect(outcomes).toEqual({ 'echo push now': 'questioned', 'echo pull': 'ran' });
  const { approval } = await nextQuestion(peer, 'c0');
  expect(approval).toMatchObject({ needs: 'full', why: { mode: 'full', rule: 'bash(echo push *)' } });
});

/** Saved approvals of a project, as `approvals.json` has them. */
const saveApprovals = ({ agentDir, cwd }: Home, ...rules: readonly string[]) => {
  mkdirSync(agentDir, { recursive: true });
  const approvals = rules.map((rule) => ({ rule, at: '2026-01-01T00:00:00.000Z' }));
  writeFileSync(join(agentDir, 'approvals.json'), JSON.stringify({ [cwd]: approvals }), { mode: 0o600 });
};

verifies('A137', 'a saved approval does not lift rules that deny or ask', async (fixture) => {
  const home = newHome();
  saveApprovals(home, 'bash(echo one)', 'bash(echo two)', 'bash(echo three)', 'bash');

  const outcomes = await outcomesOf(fixture, ['echo one', 'echo two', 'echo three'], {
    home,
    rules: { deny: ['bash(echo one)'], ask: ['bash(echo two)'] },
  });

  expect(outcomes).toEqual({ 'echo one': 'denied', 'echo two': 'questioned', 'echo three': 'ran' });
});
