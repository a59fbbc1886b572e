import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  answer,
  approvalFlags,
  bashTurn,
  callOutcome,
  commandOutcomes,
  nextQuestion,
} from '../../support/agent/approvals.ts';
import { bash, writeTextFile } from '../../support/agent/extensions.ts';
import { type Home, newHome, writeUserFile } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { verifies } from '../../support/verifies.ts';

const projectSettings = ({ cwd }: Home, settings: object) =>
  writeTextFile(join(cwd, '.pi', 'settings.json'), JSON.stringify(settings));

const warningsOf = ({ records }: Peer): string[] =>
  records.filter(({ type }) => type === 'warning').map(({ message }) => String(message));

const SANDBOX_OFF = ['--sandbox', 'off'];

for (const trust of ['--approve', '--no-approve'])
  verifies(
    'A139',
    `with ${trust} the settings of a project allow nothing, and each one is named in a warning`,
    async ({ open }) => {
      const home = newHome();
      writeFileSync(join(home.cwd, 'mine.txt'), '');
      const path = projectSettings(home, {
        approvals: { mode: 'full', allow: ['bash', 'bash(echo *)'], waitMs: 1, deny: ['bash(echo no)'], ask: ['read'] },
        sandbox: {
          use: 'external',
          network: 'open',
          domains: ['*'],
          writable: ['/'],
          env: ['HOME'],
          gitWrite: true,
          unixSockets: true,
        },
      });
      const script = [
        { steps: [...bashTurn('echo yes', 'echo no').steps, toolCallStep('read', { path: 'mine.txt' }, 'r')] },
        { text: 'done' },
      ];
      const { peer } = await open({
        home,
        args: [...SANDBOX_OFF, trust],
        settings: { approvals: { mode: 'ask' } },
        script,
      });
      await peer.ok({ type: 'prompt', message: 'go' });

      const outcomes = [await callOutcome(peer, 'c0'), await callOutcome(peer, 'c1'), await callOutcome(peer, 'r')];
      const state = await peer.ok({ type: 'get_state' });
      const question = await nextQuestion(peer, 'c0');
      await peer.ok({ type: 'abort' });

      expect(outcomes).toEqual(['questioned', 'denied', 'questioned']);
      expect(state).toMatchObject({ approvalMode: 'ask', approvalModes: ['plan', 'ask'] });
      expect(question.approval.waitMs).not.toBe(1);
      const warnings = warningsOf(peer).filter((message) => message.includes(path));
      const names = ['approvals.mode', 'approvals.allow', 'approvals.waitMs'];
      const groups = ['use', 'network', 'domains', 'writable', 'env', 'gitWrite', 'unixSockets'].map(
        (key) => `sandbox.${key}`,
      );
      for (const name of [...names, ...groups])
        expect(warnings.filter((message) => message.includes(`${name} `))).toHaveLength(1);
      expect(warnings).toHaveLength(names.length + groups.length);
    },
  );

verifies(
  'A139',
  'a project may demand a stricter mode, without trust and without a setting of the user',
  async ({ open }) => {
    const home = newHome();
    projectSettings(home, { approvals: { mode: 'plan' } });
    const { peer } = await open({ home, args: [...SANDBOX_OFF, '--no-approve'] });

    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ approvalMode: 'plan', approvalModes: ['plan'] });
    expect(warningsOf(peer).filter((message) => message.includes('approvals'))).toEqual([]);
  },
);

verifies('A139', 'a project may deny in the mode full, and both of its settings files count', async ({ open }) => {
  const home = newHome();
  projectSettings(home, { approvals: { deny: ['bash(echo one)'] } });
  writeTextFile(
    join(home.cwd, '.pi', 'agent', 'settings.json'),
    JSON.stringify({ approvals: { deny: ['bash(echo two)'] } }),
  );
  const commands = ['echo one', 'echo two', 'echo three'];
  const { peer } = await open({ home, args: ['--no-approve'], script: [bashTurn(...commands), { text: 'done' }] });

  expect(await commandOutcomes(peer, commands)).toEqual({
    'echo one': 'denied',
    'echo two': 'denied',
    'echo three': 'ran',
  });
});

verifies('A139', 'a malformed settings file of a project changes nothing', async ({ open }) => {
  const home = newHome();
  writeTextFile(join(home.cwd, '.pi', 'settings.json'), '{"approvals": {"mode": ');
  const { peer } = await open({
    home,
    args: [...SANDBOX_OFF, '--no-approve'],
    settings: { approvals: { mode: 'edit' } },
  });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ approvalMode: 'edit' });
  expect(warningsOf(peer).filter((message) => message.includes('.pi/settings.json'))).not.toEqual([]);
});

verifies('A140', 'each rule that makes no sense is named in a warning, and the others count', async ({ open }) => {
  const nonsense = [
    'bash(',
    'bash()',
    '()',
    'Bash(ls)',
    'bash(ls $HOME)',
    'write:outside',
    'files(x)',
    'edit(../x)',
    '',
  ];
  const commands = ['echo one', 'echo two', 'echo three'];
  const { peer } = await open({
    args: approvalFlags('ask'),
    settings: { approvals: { allow: [...nonsense, 'bash(echo one)', 7], deny: ['bash(a b', 'bash(echo two)'] } },
    script: [bashTurn(...commands), { text: 'done' }],
  });

  expect(await commandOutcomes(peer, commands)).toEqual({
    'echo one': 'ran',
    'echo two': 'denied',
    'echo three': 'questioned',
  });
  const warnings = warningsOf(peer);
  for (const rule of [...nonsense.map((text) => `allow rule ${JSON.stringify(text)}`), 'deny rule "bash(a b"'])
    expect(
      warnings.filter((message) => message.includes(rule)),
      rule,
    ).toHaveLength(1);
  expect(warnings.filter((message) => message.includes('approvals.allow[10]'))).toHaveLength(1);
});

verifies('A140', 'a settings group of the wrong form counts as none, with a warning', async ({ open }) => {
  const { peer } = await open({
    args: approvalFlags('ask'),
    settings: { approvals: { allow: 'bash', mode: 'everything' } },
    script: [bashTurn('echo one'), { text: 'done' }],
  });

  expect(await commandOutcomes(peer, ['echo one'])).toEqual({ 'echo one': 'questioned' });
  expect(warningsOf(peer).filter((message) => message.includes('approvals'))).not.toEqual([]);
});

for (const text of ['{"', '[]', 'null', '"bash"', '{"PROJECT": {"rule": "bash(echo one)"}}'])
  verifies('A140', `an approvals.json with ${text} allows nothing and is not overwritten`, async ({ open }) => {
    const home = newHome();
    const content = text.replace('PROJECT', home.cwd);
    writeUserFile(home, 'approvals.json', content);
    const { peer } = await open({ home, args: approvalFlags('ask'), script: [bash('echo one'), { text: 'done' }] });
    await peer.ok({ type: 'prompt', message: 'go' });

    answer(peer, await nextQuestion(peer), 'allow_always');
    await peer.next('agent_settled');

    expect(readFileSync(join(home.agentDir, 'approvals.json'), 'utf8')).toBe(content);
    expect(toolEnds(peer.records)).toHaveLength(1);
    expect(warningsOf(peer).filter((message) => message.includes('approvals.json'))).not.toEqual([]);
  });

verifies('A140', 'single entries of approvals.json that make no sense are ignored', async ({ open }) => {
  const home = newHome();
  mkdirSync(home.agentDir, { recursive: true });
  const entries = [
    { rule: 'bash(echo one)' },
    { rule: 7 },
    'bash',
    null,
    { rule: '' },
    { allow: 'bash' },
    { rule: 'bash(' },
  ];
  writeUserFile(home, 'approvals.json', JSON.stringify({ [home.cwd]: entries, '/': [{ rule: 'bash' }] }));
  const commands = ['echo one', 'echo two'];
  const { peer } = await open({ home, args: approvalFlags('ask'), script: [bashTurn(...commands), { text: 'done' }] });

  expect(await commandOutcomes(peer, commands)).toEqual({ 'echo one': 'ran', 'echo two': 'questioned' });
});
