import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWithHooks } from '../../support/agent/hooked-agent.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { Peer } from '../../support/clients/peer.ts';
import { AGENT_SWITCHES_SESSION, LOCAL_TRANSPORTS, verifies } from '../../support/verifies.ts';

const activeTools = async (peer: Peer): Promise<string[]> => (await peer.ok({ type: 'get_state' })).activeTools;

const notices = (peer: Peer) => peer.records.filter(({ type }) => type === 'state_changed');

verifies('T20', 'get_tools returns every tool and whether it is active', async ({ open }) => {
  const { peer } = await open();

  const { tools } = await peer.ok({ type: 'get_tools' });

  expect(tools).toContainEqual({
    name: 'read',
    description: expect.stringMatching(/\w/),
    parameters: expect.objectContaining({ type: 'object', required: ['path'] }),
    active: true,
    source: 'builtin',
  });
  const active = tools.flatMap((tool: { name: string; active: boolean }) => (tool.active ? [tool.name] : []));
  expect(active).toEqual(await activeTools(peer));
  expect(active).toEqual(expect.arrayContaining(['read', 'bash', 'write']));
});

verifies('T21 I15', 'set_active_tools activates exactly these tools, once each, in order', async ({ open }) => {
  const { peer } = await open();

  const response = await peer.ok({ type: 'set_active_tools', tools: ['bash', 'read', 'bash'] });

  expect(response).toEqual({ activeTools: ['read', 'bash'] });
  expect(await activeTools(peer)).toEqual(['read', 'bash']);
  expect(notices(peer)).toEqual([{ type: 'state_changed', state: { activeTools: ['read', 'bash'] } }]);
  const { tools } = await peer.ok({ type: 'get_tools' });
  expect(tools.find(({ name }: { name: string }) => name === 'write')).toMatchObject({ active: false });
});

verifies('I15', 'an empty set of tools is allowed, and an unchanged one publishes nothing', async ({ open }) => {
  const { peer } = await open();

  expect(await peer.ok({ type: 'set_active_tools', tools: [] })).toEqual({ activeTools: [] });
  await peer.ok({ type: 'set_active_tools', tools: [] });
  await peer.ok({ type: 'get_state' });

  expect(notices(peer)).toEqual([{ type: 'state_changed', state: { activeTools: [] } }]);
  expect(JSON.stringify(await peer.run('run `echo hello`'))).not.toContain('tool_execution_start');
});

verifies('T21', 'an unknown tool name is rejected and changes nothing', async ({ open }) => {
  const { peer } = await open();
  const before = await activeTools(peer);

  for (const name of ['fly', 'Read', 'read ', '*', '+read', '__proto__', 'constructor']) {
    const refusal = await peer.refused({ type: 'set_active_tools', tools: ['read', name] });
    expect(refusal).toMatchObject({ code: 'not_found', error: `No such tool: ${name}` });
  }
  await peer.refused({ type: 'set_active_tools', tools: [''] });

  expect(await activeTools(peer)).toEqual(before);
  expect(notices(peer)).toEqual([]);
});

verifies('T21', 'active tools set during a run apply from the next model call on', async ({ open }) => {
  const gate = newGate();
  const write = (path: string) => ({ toolCall: { name: 'write', arguments: { path, content: '' } } });
  const { peer, home } = await open({
    script: [{ steps: [{ ...write('first'), await: gate.path }] }, write('second'), { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await peer.find((record) => JSON.stringify(record).includes('toolcall_start'));

  await peer.ok({ type: 'set_active_tools', tools: ['read'] });
  gate.open();
  await waitUntilSettled(peer);

  const ends = peer.records.filter(({ type }) => type === 'tool_execution_end');
  expect(ends.map(({ isError }) => isError)).toEqual([false, true]);
  expect([existsSync(join(home.cwd, 'first')), existsSync(join(home.cwd, 'second'))]).toEqual([true, false]);
});

verifies(
  'T21',
  'active tools outlast a change of session and of trust',
  async ({ open }) => {
    const { peer } = await open({ script: [{ text: 'one' }] });
    await peer.run('go');
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'set_active_tools', tools: ['write'] });

    await peer.ok({ type: 'set_trust', trusted: true });
    expect(await activeTools(peer)).toEqual(['write']);
    await peer.ok({ type: 'new_session' });
    expect(await activeTools(peer)).toEqual(['write']);
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

    expect(await activeTools(peer)).toEqual(['write']);
    expect(notices(peer).filter(({ state }) => 'activeTools' in (state as object))).toHaveLength(1);
  },
  AGENT_SWITCHES_SESSION,
);

it('[T21] the model gets the tools chosen at opening and those set later', async () => {
  const offered: string[][] = [];
  const { client } = await openWithHooks(
    {
      beforeRequest: async ({ tools }) => {
        offered.push(tools.map(({ name }) => name));
        return undefined;
      },
    },
    { tools: { patterns: ['read', 'wr*', 'fly'], excluded: ['read'] } },
  );

  await client.promptAndWait('say one');
  await client.setActiveTools({ tools: ['bash', 'read'] });
  await client.promptAndWait('say two');

  expect(offered).toEqual([['write'], ['read', 'bash']]);
});

const PRINT_ENVIRONMENT =
  'echo "$AI_AGENT|$PI_CODING_AGENT|$PI_SESSION_ID|$PI_SESSION_FILE|$PI_PROVIDER|$PI_MODEL|$PI_REASONING_LEVEL"';

verifies('T22 B1', 'commands and tools get session, model and level in their environment', async ({ open }) => {
  const script = [{ toolCall: { name: 'bash', arguments: { command: PRINT_ENVIRONMENT } } }, { text: 'ok' }];
  const { peer } = await open({ script, args: ['--thinking', 'low'] });
  const { sessionId, sessionFile } = await peer.ok({ type: 'get_state' });

  const before = await peer.ok({ type: 'bash', command: PRINT_ENVIRONMENT });
  const [result] = (await peer.run('go')).filter(({ type }) => type === 'tool_execution_end');
  await peer.ok({ type: 'set_model', provider: 'tau', modelId: 'scripted-slow' });
  await peer.ok({ type: 'set_thinking_level', level: 'max' });
  const after = await peer.ok({ type: 'bash', command: PRINT_ENVIRONMENT });

  const who = `tau|true|${sessionId}|${sessionFile}|tau`;
  expect(before.output).toBe(`${who}|scripted|low\n`);
  expect(JSON.stringify(result)).toContain(`${who}|scripted|low`);
  expect(after.output).toBe(`${who}|scripted-slow|max\n`);
});

verifies(
  'T22',
  'an agent started inside another one passes only its own session to commands',
  async ({ open }) => {
    const { peer } = await open({ args: ['--no-session'], env: { PI_SESSION_FILE: 'outer', PI_SESSION_ID: 'outer' } });
    const { sessionId } = await peer.ok({ type: 'get_state' });

    const { output } = await peer.ok({ type: 'bash', command: 'echo "$PI_SESSION_ID|$PI_SESSION_FILE"' });

    expect(output).toBe(`${sessionId}|\n`);
  },
  LOCAL_TRANSPORTS,
);

verifies('T28', 'a pattern with many wildcards selects tools without delay', async ({ open }) => {
  const { peer } = await open({ args: ['--tools', `${'*a'.repeat(30)}b,${'*a'.repeat(30)}`] });
  const name = 'a'.repeat(64);
  await peer.ok({
    type: 'set_host_tools',
    tools: [{ name, description: 'x', parameters: { type: 'object', properties: {} } }],
  });

  expect(await activeTools(peer)).toEqual([name]);
});
