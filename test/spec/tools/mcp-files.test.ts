import { writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { runTau } from '../../support/processes/program.ts';
import {
  readNotes,
  statusesOf,
  stdioServer,
  toolCallScript,
  toolOutcomes,
  waitForStatuses,
  writeMcpServers,
} from '../../support/tools/mcp.ts';
import { verifies } from '../../support/verifies.ts';

const named = (...names: string[]) =>
  stdioServer({ tools: names.map((name) => ({ name, inputSchema: { type: 'object' } })) });

verifies('N30 N33 N34', 'MCP servers of the user are ready for the first prompt', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { files: named('read', 'write'), 'my web': named('get.page') });

  const { peer } = await open({ home, script: toolCallScript(['files__read', { path: 'x' }], 'my_web__get_page') });
  const records = await peer.run('go');

  expect(toolOutcomes(records)).toEqual([
    { text: '{"path":"x"}', isError: false },
    { text: '{}', isError: false },
  ]);
  expect(statusesOf(peer.records, 'files')).toEqual(['connecting', 'ready']);
  const state = await peer.ok({ type: 'get_state' });
  expect(state.mcpServers).toEqual([
    { name: 'files', status: 'ready', tools: ['files__read', 'files__write'] },
    { name: 'my web', status: 'ready', tools: ['my_web__get_page'] },
  ]);
  expect(state.activeTools).toEqual([
    'read',
    'bash',
    'edit',
    'write',
    'files__read',
    'files__write',
    'my_web__get_page',
  ]);
  const { tools } = await peer.ok({ type: 'get_tools' });
  expect(tools.at(-1)).toMatchObject({ name: 'my_web__get_page', source: 'mcp', active: true });
});

verifies('N30', 'MCP servers of a project apply while it is trusted, and win by name', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { a: named('users'), b: named('users') });
  writeMcpServers(home, { b: named('projects'), c: named('projects') }, 'project');
  const { peer } = await open({ home });
  const tools = async () => (await peer.ok({ type: 'get_state' })).activeTools.slice(4);

  await peer.ok({ type: 'set_auto_retry', enabled: true });
  expect(await tools()).toEqual(['a__users', 'b__users']);
  await peer.ok({ type: 'set_trust', trusted: true });
  expect(await tools()).toEqual(['a__users', 'b__projects', 'c__projects']);
  await peer.ok({ type: 'set_trust', trusted: false });

  expect(await tools()).toEqual(['a__users', 'b__users']);
  // Servers that did not change keep their connection.
  expect(statusesOf(peer.records, 'a')).toEqual(['connecting', 'ready']);
  expect(statusesOf(peer.records, 'c')).toEqual(['connecting', 'ready', 'closed']);
});

verifies(
  'N30 N37',
  'invalid entries of mcp.json are reported, and the others apply',
  async ({ open }) => {
    const home = newHome();
    writeMcpServers(home, { good: named('tool'), bad: { command: 7 }, worse: {} });
    writeMcpServers(home, { project: named('tool') }, 'project');

    const { peer, process } = await open({ home });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    expect((await peer.ok({ type: 'get_state' })).mcpServers).toMatchObject([{ name: 'good', status: 'ready' }]);
    expect(process?.stderr()).toBe(
      [
        `tau: ${home.agentDir}/mcp.json: mcpServers.bad.command must be a string`,
        `tau: ${home.agentDir}/mcp.json: mcpServers.worse needs a command or a url`,
        `tau: ${home.cwd}/.pi/mcp.json is left out: the project is not trusted`,
        '',
      ].join('\n'),
    );
  },
  ['stdio'],
);

verifies('N30', 'a disabled MCP server is listed and not started', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { off: { ...stdioServer({ notes }), disabled: true } });

  const { peer } = await open({ home });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect((await peer.ok({ type: 'get_state' })).mcpServers).toEqual([{ name: 'off', status: 'disabled', tools: [] }]);
  expect(readNotes(notes)).toEqual([]);
});

verifies('N31', '--no-mcp ignores the files, and clients can still set servers', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { files: named('tool') });

  const { peer } = await open({ home, args: ['--no-mcp'] });
  await peer.ok({ type: 'set_auto_retry', enabled: true });
  expect((await peer.ok({ type: 'get_state' })).mcpServers).toBeUndefined();
  const { servers } = await peer.ok({ type: 'set_mcp_servers', servers: { mine: named('tool') } });

  expect(servers).toEqual([{ name: 'mine', status: 'ready', tools: ['mine__tool'] }]);
});

it.each([
  ['only the named ones', ['--tools', 'read,fs__a'], ['read', 'fs__a']],
  ['by a pattern', ['--tools', 'fs__*'], ['fs__a', 'fs__b']],
  ['all but the excluded ones', ['--exclude-tools', 'fs__b,bash'], ['read', 'edit', 'write', 'fs__a']],
  ['none', ['--no-tools'], []],
  ['no built-in ones', ['--no-builtin-tools'], ['fs__a', 'fs__b']],
])('[N34] tool flags select the tools of MCP servers: %s', async (_title, args, offered) => {
  const home = newHome();
  writeMcpServers(home, { fs: named('a', 'b') });

  const { peer, process } = await openTestAgent('stdio', { home, args });
  await peer.ok({ type: 'set_auto_retry', enabled: true });

  expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(offered);
  expect(process?.stderr()).toBe('');
});

verifies(
  'N70',
  'hidden tools of MCP servers are not offered, and unused fields are reported',
  async ({ open }) => {
    const home = newHome();
    writeMcpServers(home, {
      a: { ...named('read', 'write'), toolExposure: { 'wr*': 'hidden' } },
      b: { ...named('read', 'write'), exposure: 'hidden', toolExposure: { read: 'direct' }, auth: { provider: 'x' } },
    });

    const { peer, process } = await open({ home });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    const { tools } = await peer.ok({ type: 'get_tools' });
    expect(tools.map(({ name }: { name: string }) => name).filter((name: string) => name.includes('__'))).toEqual([
      'a__read',
      'b__read',
    ]);
    expect(process?.stderr()).toBe(`tau: ${home.agentDir}/mcp.json: tau does not use mcpServers.b.auth\n`);
  },
  ['stdio'],
);

verifies(
  'N71',
  "a project changes the exposure of a user's server, which keeps its other settings",
  async ({ open }) => {
    const home = newHome();
    writeMcpServers(home, { a: named('read', 'write'), b: named('read') });
    writeMcpServers(home, { a: { toolExposure: { write: 'hidden' } }, b: { enabled: false } }, 'project');

    const { peer } = await open({ home, args: ['--approve'] });
    await peer.ok({ type: 'set_auto_retry', enabled: true });

    expect((await peer.ok({ type: 'get_state' })).mcpServers).toEqual([
      { name: 'a', status: 'ready', tools: ['a__read'] },
      { name: 'b', status: 'disabled', tools: [] },
    ]);
  },
);

it('[N72] ~ at the beginning of an argument is the home folder', async () => {
  const home = newHome();
  const server = stdioServer();
  const [file = '', ...others] = server.args;
  writeMcpServers(home, { s: { ...server, args: [`~/${relative(home.root, file)}`, ...others] } });

  const { peer } = await openTestAgent('stdio', { home });

  expect((await waitForStatuses(peer, 's', ['ready'])).status).toBe('ready');
});

verifies('N34', 'invalid or duplicate tool names are changed and still call their tool', async ({ open }) => {
  const home = newHome();
  writeMcpServers(home, { s: named('a.b', 'a/b', 'x'.repeat(80)) });
  const long = `s__${'x'.repeat(61)}`;

  const { peer } = await open({ home, script: toolCallScript('s__a_b_2', long) });
  await peer.run('go');

  expect((await peer.ok({ type: 'get_state' })).activeTools.slice(4)).toEqual(['s__a_b', 's__a_b_2', long]);
});

verifies('N34', 'a deactivated tool stays inactive when its MCP server reconnects', async ({ open }) => {
  const home = newHome();
  const notes = join(home.root, 'notes');
  writeMcpServers(home, { s: stdioServer({ notes }) });
  const { peer } = await open({ home, script: toolCallScript('s__crash') });
  await peer.ok({ type: 'set_active_tools', tools: ['s__crash'] });

  await peer.run('go');
  await waitForStatuses(peer, 's', ['ready', 'failed', 'connecting', 'ready']);

  expect((await peer.ok({ type: 'get_state' })).activeTools).toEqual(['s__crash']);
});

it('[N30] values in mcp.json are resolved from the environment and by commands', async () => {
  const home = newHome();
  const env = { A: '$GIVEN', B: '!echo printed', C: 'plain' };
  writeMcpServers(home, { s: stdioServer({}, { env }), missing: stdioServer({}, { env: { A: '$NOT_THERE' } }) });
  writeFileSync(
    join(home.root, 'script.jsonl'),
    toolCallScript('s__env')
      .map((line) => JSON.stringify(line))
      .join('\n'),
  );

  const { stdout } = await runTau(home, ['--mode', 'json', '--script', join(home.root, 'script.jsonl'), 'go'], {
    env: { GIVEN: 'given', ANTHROPIC_API_KEY: 'sk-secret' },
    input: '',
  });

  const records = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const [{ text = '{}' } = {}] = toolOutcomes(records);
  expect(JSON.parse(text)).toMatchObject({ A: 'given', B: 'printed', C: 'plain' });
  expect(text).not.toContain('sk-secret');
  expect(stdout).toContain('"error":"The environment variable NOT_THERE is not set"');
});
