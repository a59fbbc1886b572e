import { expect, it } from 'vitest';
import { bash } from '../../support/agent/extensions.ts';
import { newHome, type TestAgent } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { runTau } from '../../support/processes/program.ts';
import { shortConversation, storeSession, userEntry } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const KEPT = ['--kept-by-host'];
const onAgents = ['stdio', 'unix', 'memory'] as const;

verifies(
  'J38',
  'with --kept-by-host each model call and each tool waits until the client has confirmed the entries before it',
  async ({ open }) => {
    const agent = await open({ args: KEPT, script: [bash('echo done > made'), { text: 'ready' }] });
    const { peer } = agent;
    await peer.ok({ type: 'hello', entries: true });

    await peer.ok({ type: 'prompt', message: 'go' });
    const user = await peer.next(isEntryOf('user'));
    await peer.ok({ type: 'get_commands' });
    expect(typesSince(agent, user)).not.toContain('message_update');
    confirm(agent, user);
    const call = await peer.next(isEntryOf('assistant'));
    // Commands are handled meanwhile.
    expect((await peer.ok({ type: 'get_state' })).isIdle).toBe(false);
    expect(typesSince(agent, call)).not.toContain('tool_execution_start');
    confirm(agent, { entry: { id: 'ffffffff' } });
    await peer.ok({ type: 'ping' });
    expect(typesSince(agent, call)).not.toContain('tool_execution_start');
    confirm(agent, call);
    const result = await peer.next(isEntryOf('toolResult'));
    await peer.next('turn_end');
    await peer.ok({ type: 'ping' });
    expect(typesSince(agent, result)).not.toContain('message_update');
    confirm(agent, result);

    // The end of the run waits for nothing.
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  },
  onAgents,
);

verifies(
  'J39',
  'an abort ends the wait for entries_kept, before a model call and before a tool',
  async ({ open }) => {
    const agent = await open({ args: KEPT, script: [bash('echo never')] });
    const { peer } = agent;
    await peer.ok({ type: 'hello', entries: true });

    await peer.ok({ type: 'prompt', message: 'first' });
    await peer.next('agent_start');
    await peer.ok({ type: 'abort' });
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
    await peer.ok({ type: 'prompt', message: 'second' });
    confirm(agent, await peer.next((record) => isEntryOf('user')(record) && textOf(record) === 'second'));
    await peer.next(isEntryOf('assistant'));
    await peer.ok({ type: 'abort' });

    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'aborted' });
    expect(await peer.find('tool_execution_end')).toMatchObject({ isError: true });
  },
  onAgents,
);

it('[J39] the end of the input with --on-eof abort ends the wait for entries_kept', async () => {
  const home = newHome();
  const input = '{"type":"prompt","message":"go"}\n';
  const { code, stdout } = await runTau(home, ['--mode', 'rpc', '--on-eof', 'abort', ...KEPT], { input });

  expect(code).toBe(0);
  expect(stdout).toContain('"outcome":"aborted"');
});

it('--kept-by-host goes with --mode rpc only', async () => {
  const { code, stderr } = await runTau(newHome(), ['-p', ...KEPT, 'hi']);

  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--kept-by-host goes with --mode rpc'),
  });
});

verifies(
  'J40',
  'hello with entriesAfter sends only the entries after it, and all for an unknown one',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const { peer } = await open({ home, args: ['--session', path] });
    const replayed = async (entriesAfter: string) => {
      const start = peer.records.length;
      await peer.ok({ type: 'hello', entries: false });
      await peer.ok({ type: 'hello', entries: true, entriesAfter });
      return peer.records.slice(start).flatMap((record) => (record.type === 'entry_appended' ? [entryOf(record)] : []));
    };

    const all = await replayed('unknown');
    expect(all[0]).toMatchObject({ type: 'session' });
    expect(await replayed(String(all[1]?.['id']))).toEqual(all.slice(2));
    expect(await replayed(String(all.at(-1)?.['id']))).toEqual([]);
  },
  onAgents,
);

verifies(
  'J38',
  'entriesAfter confirms entries: a repeated prompt that is stored and never ran begins',
  async ({ open }) => {
    const home = newHome();
    const waiting = { ...userEntry('cccccccc', 'bbbbbbbb', 'second'), clientMessageId: 'm-1' };
    const path = storeSession(home, [...shortConversation(home.cwd), waiting]);
    const { peer } = await open({ home, args: ['--session', path, ...KEPT], script: [{ text: 'two' }] });
    await peer.ok({ type: 'hello', entries: true, entriesAfter: 'cccccccc' });

    const accepted = await peer.ok({ type: 'prompt', message: 'second', clientMessageId: 'm-1' });

    expect(accepted).toMatchObject({ disposition: 'started', duplicate: true });
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  },
  onAgents,
);

verifies(
  'J41',
  'an agent with --kept-by-host changes to no stored session by itself',
  async ({ open }) => {
    const home = newHome();
    const path = storeSession(home, shortConversation(home.cwd));
    const { peer } = await open({ home, args: KEPT });

    expect(await peer.refused({ type: 'switch_session', sessionPath: path })).toMatchObject({ code: 'not_supported' });
    expect(await peer.ok({ type: 'switch_session', sessionPath: path, detached: true })).toMatchObject({
      cancelled: false,
    });
  },
  onAgents,
);

const entryOf = (record: WireRecord) => record['entry'] as Record<string, unknown>;

const isEntryOf = (role: string) => (record: WireRecord) =>
  record.type === 'entry_appended' && (entryOf(record)['message'] as { role?: string } | undefined)?.role === role;

const textOf = (record: WireRecord) => (entryOf(record)['message'] as { content: [{ text?: string }] }).content[0].text;

function confirm({ peer }: TestAgent, record: object): void {
  const { id } = (record as { entry: { id: string } }).entry;
  peer.send({ type: 'entries_kept', id });
}

const typesSince = ({ peer }: TestAgent, record: WireRecord) =>
  peer.records.slice(peer.records.indexOf(record)).map(({ type }) => type);
