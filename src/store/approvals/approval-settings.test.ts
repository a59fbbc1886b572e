import { mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { strictestMode } from '../../protocol/approvals/approval-modes.ts';
import { readSettings } from '../settings.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { readApprovalSettings } from './approval-settings.ts';

function files(contents: Record<string, unknown>) {
  const root = tempFolder();
  for (const [name, content] of Object.entries(contents)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return { agentDir: join(root, 'agent'), cwd: join(root, 'project') };
}

const nothing = { approvals: { allow: [], ask: [], deny: [] }, sandbox: { writable: [], hidden: [] } };

const everything = {
  approvals: {
    mode: 'auto',
    allow: ['bash(npm test)'],
    ask: ['bash(git push *)'],
    deny: ['read(**/.env)'],
    waitMs: 5000,
  },
  sandbox: {
    use: 'auto',
    network: 'ask',
    domains: ['registry.example.com'],
    writable: ['../shared', '/srv/x'],
    hidden: ['~/.kube'],
    env: ['AWS_PROFILE'],
    unixSockets: false,
    gitWrite: true,
  },
};

it('without files there are no rules and no warnings', () => {
  expect(readApprovalSettings(files({}))).toEqual({ settings: nothing, warnings: [] });
});

it('the user may set everything; paths are relative to the folder of the session', () => {
  const source = files({ 'agent/settings.json': everything });

  const { settings, warnings } = readApprovalSettings(source);

  expect(warnings).toEqual([]);
  expect(settings).toEqual({
    approvals: everything.approvals,
    sandbox: {
      ...everything.sandbox,
      writable: [join(source.cwd, '..', 'shared'), '/srv/x'],
      hidden: [join(homedir(), '.kube')],
    },
  });
  expect(readSettings({ ...source, trusted: false }).settings).toEqual(everything);
});

it.each(['project/.pi/settings.json', 'project/.pi/agent/settings.json'])(
  'of %s only rules that deny or ask, hidden files and a stricter mode count; the rest is named',
  (file) => {
    const source = files({
      'agent/settings.json': {
        approvals: { mode: 'auto', deny: ['bash(sudo *)'], ask: ['a'] },
        sandbox: { hidden: ['/h'] },
      },
      [file]: { ...everything, approvals: { ...everything.approvals, mode: 'full' } },
    });

    const { settings, warnings } = readApprovalSettings(source);

    expect(settings).toEqual({
      approvals: { mode: 'auto', allow: [], ask: ['a', 'bash(git push *)'], deny: ['bash(sudo *)', 'read(**/.env)'] },
      sandbox: { writable: [], hidden: ['/h', join(homedir(), '.kube')] },
    });
    const named = ['allow', 'waitMs', 'mode'].map((name) => `approvals.${name}`);
    const namedToo = ['use', 'network', 'domains', 'writable', 'env', 'unixSockets', 'gitWrite'].map(
      (name) => `sandbox.${name}`,
    );
    for (const name of [...named, ...namedToo])
      expect(warnings.filter((text) => text.includes(` ${name} `))).toHaveLength(1);
    expect(warnings).toHaveLength(10);
  },
);

it.each([
  ['plan', 'auto', 'plan', 0],
  ['ask', undefined, 'ask', 0],
  ['auto', 'ask', undefined, 1],
  ['auto', 'auto', 'auto', 0],
  ['full', undefined, undefined, 1],
  ['full', 'full', undefined, 0],
])('a project with mode %s, whose user has %s, has the limit %s', (mode, userMode, limit, warningCount) => {
  const source = files({
    'agent/settings.json': { approvals: userMode === undefined ? {} : { mode: userMode } },
    'project/.pi/settings.json': { approvals: { mode } },
  });

  const { settings, warnings } = readApprovalSettings(source);

  expect(settings.approvals.limit).toBe(limit);
  expect(settings.approvals.mode).toBe(userMode);
  expect(warnings).toHaveLength(warningCount);
});

it('the settings of a trusted project never reach the merged settings', () => {
  const source = files({
    'agent/settings.json': { approvals: { mode: 'ask' } },
    'project/.pi/settings.json': everything,
  });

  expect(readSettings({ ...source, trusted: true }).settings).toEqual({ approvals: { mode: 'ask' } });
});

it('one bad entry does not take other rules with it', () => {
  const source = files({
    'agent/settings.json': {
      approvals: { deny: [7, 'bash(sudo *)'], mode: 'none' },
      sandbox: { hidden: ['/a', null] },
    },
    'project/.pi/settings.json': { approvals: { deny: ['a', {}], ask: 'bash' } },
  });

  const { settings, warnings } = readApprovalSettings(source);

  expect(settings.approvals).toEqual({ mode: 'ask', allow: [], ask: [], deny: ['bash(sudo *)', 'a'] });
  expect(settings.sandbox.hidden).toEqual(['/a']);
  expect(warnings).toEqual([
    expect.stringContaining('approvals.deny[0]'),
    expect.stringContaining('sandbox.hidden[1]'),
    expect.stringContaining('approvals.ask'),
    expect.stringContaining('approvals.deny[1]'),
  ]);
  expect(readSettings({ ...source, trusted: false }).warnings).toEqual([expect.stringContaining('approvals.mode')]);
});

it('a mode or a use of the sandbox that is misspelt counts as a strict one', () => {
  const source = files({ 'agent/settings.json': { approvals: { mode: 'Full' }, sandbox: { use: 'require' } } });

  const { settings } = readApprovalSettings(source);

  expect([settings.approvals.mode, settings.sandbox.use]).toEqual(['ask', 'required']);
});

it.each([
  ['{"approvals": {"mode": "plan",}', 'ask', undefined],
  ['{"sandbox": {"use": "off"', undefined, 'required'],
  ['{"approvals": {}, "sandbox": {}', 'ask', 'required'],
  ['{approvals: {mode: ask}}', 'ask', undefined],
  ['{"approvals": "ask"}', 'ask', undefined],
  ['{"Approvals": {"mode": "ask"}, "sandbox.use": "required"}', 'ask', 'required'],
  ['{"theme": "dark"', undefined, undefined],
  ['{"theme": "approvals"}', undefined, undefined],
])('a malformed file of the user counts as strict about the groups that it names: %s', (text, mode, use) => {
  const source = files({ 'agent/settings.json': text });

  const { settings } = readApprovalSettings(source);
  const read = readSettings({ ...source, trusted: false });

  expect([settings.approvals.mode, settings.sandbox.use]).toEqual([mode, use]);
  expect([read.settings.approvals?.mode, read.settings.sandbox?.use]).toEqual([mode, use]);
  expect(read.warnings.filter((warning) => warning.includes('until it is valid'))).toHaveLength(
    [mode, use].filter(Boolean).length,
  );
});

it.each([
  [{ approvals: { deny: 'bash(rm *)' } }],
  [{ approvals: { mode: 'full', ask: {} } }],
  [{ sandbox: { hidden: 'secrets' } }],
])('a list of limits that is none makes the mode ask: %j', (values) => {
  const { settings } = readApprovalSettings(files({ 'agent/settings.json': values }));

  expect(settings.approvals.mode).toBe('ask');
});

it('a misspelt key of the user is named', () => {
  const source = files({ 'agent/settings.json': { approvals: { alow: ['a'] }, sandbox: { hiden: ['b'] } } });

  expect(readApprovalSettings(source).warnings).toEqual(
    ['approvals.alow', 'sandbox.hiden'].map((name) => expect.stringContaining(`${name} is no setting`)),
  );
});

it('a malformed file of a project is named', () => {
  const { settings, warnings } = readApprovalSettings(files({ 'project/.pi/settings.json': '{' }));

  expect(settings).toEqual(nothing);
  expect(warnings).toEqual([expect.stringContaining('the file is ignored')]);
});

it('in the home folder the file of the user counts once, as the own one of the user', () => {
  const root = tempFolder();
  const agentDir = join(root, '.pi', 'agent');
  mkdirSync(agentDir, { recursive: true });
  writeFileSync(join(agentDir, 'settings.json'), JSON.stringify({ approvals: { mode: 'full', deny: ['a'] } }));

  const { settings, warnings } = readApprovalSettings({ agentDir, cwd: root });

  expect(settings.approvals).toEqual({ mode: 'full', allow: [], ask: [], deny: ['a'] });
  expect(warnings).toEqual([]);
});

it('the strictest mode is the first in the order of modes', () => {
  expect(strictestMode('full', undefined, 'ask', 'auto')).toBe('ask');
  expect(strictestMode(undefined)).toBeUndefined();
});
