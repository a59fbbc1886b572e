import { join } from 'node:path';
import { expect } from 'vitest';
import { newHome, type TestAgent } from '../../support/agent/test-agent.ts';
import { filterAlive, waitUntil } from '../../support/processes/processes.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';
import {
  notedPids,
  statusesOf,
  stdioServer,
  toolCallScript,
  toolOutcomes,
  waitForStatuses,
  writeMcpServers,
} from '../../support/tools/mcp.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

const named = (tool: string, notes?: string) =>
  stdioServer({ tools: [{ name: tool, inputSchema: { type: 'object' } }], ...(notes === undefined ? {} : { notes }) });

const toolsOf = async ({ peer }: TestAgent) => (await peer.ok({ type: 'get_state' })).activeTools.slice(4);

verifies('N39 N33', 'set_mcp_servers responds when each server is ready or has failed', async ({ open }) => {
  const { peer } = await open({ script: toolCallScript('good__tool') });

  const { servers } = await peer.ok({
    type: 'set_mcp_servers',
    servers: {
      good: named('tool'),
      empty: {},
      both: { command: 'a', url: 'http://a' },
      odd: 7,
      dead: stdioServer({ exit: 1 }),
      off: { ...named('tool'), disabled: true },
    },
  });
  const records = await peer.run('go');

  expect(servers).toEqual([
    { name: 'good', status: 'ready', tools: ['good__tool'] },
    { name: 'empty', status: 'failed', tools: [], error: 'servers.empty needs a command or a url' },
    {
      name: 'both',
      status: 'failed',
      tools: [],
      error: 'servers.both has both a command and a url: one of them is meant',
    },
    { name: 'odd', status: 'failed', tools: [], error: 'servers.odd must be an object' },
    { name: 'dead', status: 'failed', tools: [], error: 'ended with code 1' },
    { name: 'off', status: 'disabled', tools: [] },
  ]);
  expect((await peer.ok({ type: 'get_state' })).mcpServers).toEqual(servers);
  expect(toolOutcomes(records)).toEqual([{ text: '{}', isError: false }]);
  await peer.refused({ type: 'set_mcp_servers', servers: [] });
  await peer.refused({ type: 'set_mcp_servers' });
});

verifies('N39', 'set_mcp_servers replaces the previous set and takes precedence over the files', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { f: named('file'), g: named('file') });
  const agent = await open({ home });
  const { peer } = agent;
  const set = (servers: object) => peer.ok({ type: 'set_mcp_servers', servers });

  await set({ a: named('one', notes), f: named('client') });
  expect(await toolsOf(agent)).toEqual(['f__client', 'g__file', 'a__one']);
  await set({ a: named('one', notes), b: named('two') });
  expect(await toolsOf(agent)).toEqual(['f__file', 'g__file', 'a__one', 'b__two']);
  // The unchanged server was not restarted.
  expect(notedPids(notes)).toHaveLength(1);
  await set({});

  expect(await toolsOf(agent)).toEqual(['f__file', 'g__file']);
  expect(statusesOf(peer.records, 'g')).toEqual(['connecting', 'ready']);
  expect(statusesOf(peer.records, 'b')).toEqual(['connecting', 'ready', 'closed']);
  await waitUntil(async () => (await filterAlive(notedPids(notes))).length === 0);
});

verifies('N39', 'a failed MCP server is retried when it is set again', async ({ open }) => {
  const home = newHome();
  const once = join(home.root, 'once');
  const { peer } = await open({ home });
  const server = stdioServer({ once });
  const set = (servers: object) => peer.ok({ type: 'set_mcp_servers', servers });

  await set({ s: server });
  await set({});
  const { servers: failed } = await set({ s: server });
  const { servers: again } = await set({ s: server });

  expect([failed[0].status, again[0].status]).toEqual(['failed', 'failed']);
  expect(statusesOf(peer.records, 's')).toEqual([
    'connecting',
    'ready',
    'closed',
    'connecting',
    'failed',
    'closed',
    'connecting',
    'failed',
  ]);
});

verifies('N39', 'an abort ends the wait of set_mcp_servers', async ({ open }) => {
  const { peer } = await open();
  const servers = { mute: stdioServer({ silent: 'initialize' }, { timeoutMs: 500_000 }), good: named('tool') };

  const setting = peer.ok({ type: 'set_mcp_servers', servers });
  await waitForStatuses(peer, 'good', ['ready']);
  await peer.ok({ type: 'abort' });

  expect((await setting).servers).toEqual([
    { name: 'mute', status: 'failed', tools: [], error: 'was given up: there was an abort' },
    { name: 'good', status: 'ready', tools: ['good__tool'] },
  ]);
});

verifies('N39', 'MCP servers can be set during a run and are used at its next model call', async ({ open }) => {
  const home = newHome();
  const gate = join(home.root, 'gate');
  const script = [
    { toolCall: { name: 'bash', arguments: { command: `until [ -e ${gate} ]; do sleep 0.02; done` } } },
    ...toolCallScript('s__tool'),
  ];
  const { peer } = await open({ home, script });

  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find('tool_execution_start');
  await peer.ok({ type: 'set_mcp_servers', servers: { s: named('tool') } });
  await peer.ok({ type: 'bash', command: `touch ${gate}` });
  await peer.find('agent_settled');

  expect(toolOutcomes(peer.records).at(-1)).toEqual({ text: '{}', isError: false });
});

verifies(
  'N40',
  'MCP servers set by clients end with the session, on every session change',
  async ({ open }) => {
    const home = newHome();
    const notes = join(home.root, 'notes');
    writeMcpServers(home, { f: named('file') });
    const agent = await open({ home, script: [{ text: 'one', keep: true, when: '.' }] });
    const { peer } = agent;
    await peer.run('hello');
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    const { messages } = await peer.ok({ type: 'get_fork_messages' });
    const sessionChanges = [
      { type: 'new_session' },
      { type: 'switch_session', sessionPath: sessionFile },
      { type: 'clone' },
      { type: 'fork', entryId: messages[0].entryId },
    ];

    for (const sessionChange of sessionChanges) {
      await peer.ok({ type: 'set_mcp_servers', servers: { s: named('tool', notes) } });
      expect(await toolsOf(agent)).toEqual(['f__file', 's__tool']);
      await peer.ok(sessionChange);
      expect(await toolsOf(agent)).toEqual(['f__file']);
    }

    await waitUntil(async () => (await filterAlive(notedPids(notes))).length === 0);
    expect(notedPids(notes)).toHaveLength(4);
    expect(statusesOf(peer.records, 'f')).toEqual(['connecting', 'ready']);
  },
  AGENT_SWITCHES_SESSION,
);

verifies('N40 N30', 'in another folder its own MCP servers apply, and programs start there', async (bench) => {
  const home = newHome();
  const other = newHome();
  writeMcpServers(home, { here: stdioServer() });
  writeMcpServers(other, { there: named('tool') }, 'project');
  const sessionPath = storeSession(home, [header(other.cwd)]);
  const { peer } = await bench.open({ home, script: toolCallScript('here__cwd') });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  await peer.ok({ type: 'switch_session', sessionPath });
  const untrusted = (await peer.ok({ type: 'get_state' })).mcpServers;
  await peer.ok({ type: 'set_trust', trusted: true });
  const trusted = (await peer.ok({ type: 'get_state' })).mcpServers;
  const records = await peer.run('go');

  expect(untrusted.map(({ name }: { name: string }) => name)).toEqual(['here']);
  expect(trusted.map(({ name }: { name: string }) => name)).toEqual(['here', 'there']);
  expect(toolOutcomes(records)).toEqual([{ text: other.cwd, isError: false }]);
  // Behind a server the agent itself is replaced, so its closing is not published.
  const closed = bench.transport === 'websocket' ? [] : ['closed'];
  expect(statusesOf(peer.records, 'here')).toEqual(['connecting', 'ready', ...closed, 'connecting', 'ready']);
});

verifies('N43', 'the fifty-first MCP server fails', async ({ open }) => {
  const { peer } = await open();
  const servers = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`s${index}`, { disabled: true }]));

  const { servers: statuses } = await peer.ok({ type: 'set_mcp_servers', servers });

  expect(statuses.slice(0, 50).every(({ status }: { status: string }) => status === 'disabled')).toBe(true);
  expect(statuses[50]).toMatchObject({ status: 'failed', error: 'There are more than 50 servers' });
});

verifies('N42', 'values in set_mcp_servers are literal: nothing is resolved from the environment', async ({ open }) => {
  const { peer } = await open({
    script: toolCallScript('s__env'),
    env: { GIVEN: 'given', OPENAI_API_KEY: 'sk-secret' },
  });
  const env = { A: '$GIVEN', B: '!echo printed', C: '$OPENAI_API_KEY' };

  await peer.ok({ type: 'set_mcp_servers', servers: { s: stdioServer({}, { env }) } });
  const [{ text = '{}' } = {}] = toolOutcomes(await peer.run('go'));

  expect(JSON.parse(text)).toMatchObject(env);
  expect(text).not.toContain('sk-secret');
});
