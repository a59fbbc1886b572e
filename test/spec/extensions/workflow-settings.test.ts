import { expect, it } from 'vitest';
import { newHome, scriptArgs, writeSettings } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { verifies } from '../../support/verifies.ts';

const phases = [{ id: 'phase-1', name: 'All', tasks: [{ id: 'task-1', content: 'Do it', status: 'pending' }] }];
const bashCall = { toolCall: { name: 'bash', arguments: { command: 'true' } } };
const script = [{ text: 'That is it.' }, bashCall, { repeat: true }];
const inherit = { args: ['--inherit-workflow-settings'] };

const attempts = (records: readonly WireRecord[]) =>
  records.flatMap(({ type, attempt, maxAttempts }) => (type === 'todo_reminder' ? [`${attempt}/${maxAttempts}`] : []));

async function remindersFor(peer: Peer) {
  await peer.ok({ type: 'set_todos', phases });
  const { activeTools } = await peer.ok({ type: 'get_state' });
  return { offered: activeTools.includes('todo'), attempts: attempts(await peer.run('go')) };
}

const cases: [string, object, Awaited<ReturnType<typeof remindersFor>>][] = [
  ['todo.enabled', { 'todo.enabled': false }, { offered: false, attempts: [] }],
  ['todo.reminders', { todo: { reminders: false } }, { offered: true, attempts: [] }],
  ['todo.reminders.max', { 'todo.reminders.max': 1 }, { offered: true, attempts: ['1/1'] }],
];

for (const [name, settings, outcome] of cases) {
  verifies('Z20', `${name} has no effect in RPC mode`, async ({ open }) => {
    const { peer } = await open({ script, settings });

    expect(await remindersFor(peer)).toEqual({ offered: true, attempts: ['1/3', '2/3', '3/3'] });
  });

  verifies('Z21', `${name} takes effect with --inherit-workflow-settings`, async ({ open }) => {
    const { peer } = await open({ script, settings, ...inherit });

    expect(await remindersFor(peer)).toEqual(outcome);
  });
}

verifies('Z21', 'an invalid workflow setting is reported and ignored', async ({ open }) => {
  const settings = { 'todo.reminders.max': 'few', todo: { enabled: true } };
  const { peer, process } = await open({ script, settings, ...inherit });

  expect((await remindersFor(peer)).attempts).toEqual(['1/3', '2/3', '3/3']);
  if (process) expect(process.stderr()).toContain('todo.reminders.max must be a whole number; it is ignored');
});

it.each([
  [{}, ['1/3', '2/3', '3/3']],
  [{ 'todo.reminders.max': 2 }, ['1/2', '2/2']],
  [{ 'todo.enabled': false }, []],
])('[Z20] the settings %j apply in the other modes', async (settings, expected) => {
  const home = newHome();
  writeSettings(home, settings);
  const seed = { toolCall: { name: 'todo', arguments: { ops: [{ op: 'replace', phases }] } } };
  const args = scriptArgs(home, [
    seed,
    { text: 'That is it.' },
    bashCall,
    { text: 'Well.' },
    bashCall,
    { text: 'So.' },
    bashCall,
  ]);

  const { stdout } = await runTau(home, ['--mode', 'json', '--tools', '+todo', ...args, 'go'], { input: '' });

  const records = stdout.trim().split('\n');
  expect(attempts(records.map((line) => JSON.parse(line) as WireRecord))).toEqual(expected);
});
