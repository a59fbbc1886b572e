import { expect } from 'vitest';
import { newHome, type OpenOptions, readSessionFile } from '../../support/agent/test-agent.ts';
import type { Peer, WireRecord } from '../../support/clients/peer.ts';
import { shortConversation, storeSession } from '../../support/sessions/stored-session.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

/** Opens an agent whose second run is stalled after its first text. */
async function openMidRun(open: (options: OpenOptions) => Promise<{ peer: Peer }>) {
  const home = newHome();
  const sessionPath = storeSession(home, shortConversation(home.cwd));
  const script = [{ text: 'one' }, { steps: [{ text: 'half ' }, { stall: true }] }];
  const { peer } = await open({ home, script });
  await peer.run('first');
  const { sessionFile } = await peer.ok({ type: 'get_state' });
  const [point] = (await peer.ok({ type: 'get_fork_messages' })).messages;
  const start = peer.records.length;
  await peer.ok({ type: 'prompt', message: 'second', clientMessageId: 'c2' });
  await peer.next((record) => record.type === 'message_update' && JSON.stringify(record).includes('half'));
  return { peer, sessionFile: sessionFile as string, sessionPath, entryId: point.entryId as string, start };
}

type MidRun = Awaited<ReturnType<typeof openMidRun>>;

const sessionChanges: Readonly<Record<string, (now: MidRun) => { type: string } & Record<string, unknown>>> = {
  new_session: () => ({ type: 'new_session' }),
  switch_session: ({ sessionPath }) => ({ type: 'switch_session', sessionPath }),
  fork: ({ entryId }) => ({ type: 'fork', entryId }),
  branch: ({ entryId }) => ({ type: 'branch', entryId }),
  clone: () => ({ type: 'clone' }),
};

const isEnd = ({ type }: WireRecord) =>
  ['message_end', 'turn_end', 'agent_end', 'agent_settled', 'response'].includes(type);

for (const [name, command] of Object.entries(sessionChanges)) {
  verifies(
    'S27 S28',
    `${name} ends the run in order before it responds`,
    async ({ open }) => {
      const now = await openMidRun(open);
      const from = now.peer.records.length;

      await now.peer.ok(command(now));

      const ends = now.peer.records.slice(from).filter(isEnd);
      expect(ends.map(({ type }) => type)).toEqual([
        'message_end',
        'turn_end',
        'agent_end',
        'agent_settled',
        'response',
      ]);
      const [message, turn, agent, settled] = ends;
      expect(message).toMatchObject({ message: { role: 'assistant', stopReason: 'aborted' } });
      expect(turn).toEqual({ type: 'turn_end', message: message?.['message'], toolResults: [] });
      expect(agent).toMatchObject({ isTerminal: true, willRetry: false });
      expect(settled).toMatchObject({ outcome: 'aborted', aborted: true, clientMessageIds: ['c2'] });
      const storedMessages = readSessionFile(now.sessionFile).flatMap((line) => (line.message ? [line.message] : []));
      expect(storedMessages.map(({ role, stopReason }) => stopReason ?? role)).toEqual([
        'user',
        'stop',
        'user',
        'aborted',
      ]);
      expect(storedMessages.at(-1)).toEqual(message?.['message']);
    },
    AGENT_SWITCHES_SESSION,
  );

  verifies(
    'S27',
    `${name} leaves the agent idle`,
    async ({ open }) => {
      const now = await openMidRun(open);

      await now.peer.ok(command(now));

      expect(await now.peer.ok({ type: 'get_state' })).toMatchObject({ isStreaming: false, isIdle: true });
      expect(now.peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(2);
      const state = now.peer.records.findLast(({ type }) => type === 'state_changed');
      expect(state?.['state']).not.toHaveProperty('isStreaming');
    },
    AGENT_SWITCHES_SESSION,
  );
}

verifies(
  'S17 S28',
  'a clone contains the partial message of the aborted run',
  async ({ open }) => {
    const { peer, sessionFile } = await openMidRun(open);

    const cloned = await peer.ok({ type: 'clone' });

    const ids = (path: string) =>
      readSessionFile(path)
        .slice(1)
        .map(({ id }) => id);
    expect(ids(cloned.sessionFile)).toEqual(ids(sessionFile));
    const { messages } = await peer.ok({ type: 'get_messages' });
    expect(messages.at(-1)).toMatchObject({ stopReason: 'aborted', content: [{ type: 'text', text: 'half ' }] });
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'S27 S28',
  'switching to the open session aborts its run',
  async ({ open }) => {
    const { peer, sessionFile } = await openMidRun(open);

    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

    const types = peer.records.slice(-2).map(({ type }) => type);
    expect(types).toEqual(['agent_settled', 'response']);
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, isIdle: true, messageCount: 4 });
  },
  AGENT_SWITCHES_SESSION,
);

verifies(
  'S27 S28',
  'a running tool is stopped before the session is left',
  async ({ open }) => {
    const command = 'echo begun; sleep 1000';
    const { peer } = await open({ script: [{ steps: [{ toolCall: { name: 'bash', arguments: { command } } }] }] });
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'prompt', message: 'work' });
    await peer.next('tool_execution_start');

    await peer.ok({ type: 'new_session' });

    const types = peer.records.map(({ type }) => type);
    expect(types.indexOf('tool_execution_end')).toBeGreaterThan(0);
    expect(types.indexOf('tool_execution_end')).toBeLessThan(types.indexOf('agent_settled'));
    const roles = readSessionFile(sessionFile).flatMap(({ message }) => (message ? [message.role] : []));
    expect(roles).toEqual(['user', 'assistant', 'toolResult']);
  },
  AGENT_SWITCHES_SESSION,
);

verifies('S27 S12', 'commands sent together get responses in order, each for its own session', async ({ open }) => {
  const script = [
    { steps: [{ stall: true }], when: 'wait' },
    { text: 'two', when: 'go on' },
  ];
  const { peer } = await open({ script });
  const first = await peer.ok({ type: 'get_state' });

  peer.send({ id: 1, type: 'prompt', message: 'wait' });
  peer.send({ id: 2, type: 'new_session' });
  peer.send({ id: 3, type: 'prompt', message: 'go on' });
  peer.send({ id: 4, type: 'set_session_name', name: 'second' });
  await peer.find(({ type, id }) => type === 'response' && id === 4);
  await peer.ok({ type: 'wait_idle' });

  const responses = peer.records.filter(({ type, id }) => type === 'response' && typeof id === 'number');
  expect(responses.map(({ id, success }) => [id, success])).toEqual([1, 2, 3, 4].map((id) => [id, true]));
  const { sessionFile, sessionName } = await peer.ok({ type: 'get_state' });
  expect(sessionName).toBe('second');
  const texts = (path: string) =>
    readSessionFile(path).flatMap(({ message }) => (message?.role === 'user' ? [message.content[0].text] : []));
  expect([texts(first.sessionFile), texts(sessionFile)]).toEqual([['wait'], ['go on']]);
});

verifies(
  'S12 S27',
  'session changes sent together are made one after another',
  async ({ open }) => {
    const { peer, sessionPath, sessionFile } = await openMidRun(open);

    const commands = [
      { type: 'new_session' },
      { type: 'switch_session', sessionPath },
      { type: 'clone' },
      { type: 'fork', entryId: 'aaaaaaaa' },
      { type: 'switch_session', sessionPath: sessionFile },
    ];
    const responses = await Promise.all(commands.map((command) => peer.request(command)));

    expect(responses.map(({ success }) => success)).toEqual(commands.map(() => true));
    const order = peer.records.filter((record) => responses.includes(record)).map(({ command }) => command);
    expect(order).toEqual(commands.map(({ type }) => type));
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ sessionFile, messageCount: 4, isIdle: true });
    expect(responses[2]).toMatchObject({ command: 'clone', data: { sessionFile: expect.any(String) } });
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toHaveLength(2);
  },
  AGENT_SWITCHES_SESSION,
);
