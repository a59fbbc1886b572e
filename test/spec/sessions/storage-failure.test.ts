import { rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { newGate, newHome, TAU } from '../../support/agent/test-agent.ts';
import { startProgram } from '../../support/processes/program.ts';
import { assertValid } from '../../support/protocol/wire-log.ts';
import { verifies } from '../../support/verifies.ts';

it('a session file that cannot grow ends the run with storage_failed, and the agent continues', async () => {
  const limited = 'ulimit -f 64; exec "$0" "$1" --mode rpc --stream delta';
  const agent = startProgram(newHome(), ['bash', '-c', limited, process.execPath, TAU]);

  agent.send({ id: 1, type: 'prompt', message: `count to 30000` });
  await agent.waitForOutput('"agent_settled"');
  agent.send({ id: 2, type: 'get_state' });
  await agent.waitForOutput('"get_state"');

  const records = agent
    .stdout()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  for (const record of records) assertValid(record);
  expect(records.find(({ type }) => type === 'agent_settled')).toMatchObject({
    outcome: 'error',
    errorCode: 'storage_failed',
    errorMessage: expect.stringContaining('Could not write the session'),
  });
  expect(records.some(({ type, message }) => type === 'message_end' && message.role === 'assistant')).toBe(false);
  expect(records.at(-1)).toMatchObject({ id: 2, success: true, data: { isIdle: true, messageCount: 1 } });
});

verifies('J16', 'a removed session file ends the run before the model is called', async ({ open }) => {
  const { peer, sessionFiles } = await open({ script: [{ text: 'one' }, { text: 'two' }] });
  await peer.run('first');
  rmSync(sessionFiles()[0] ?? '');

  const records = await peer.run('second');

  expect(records.at(-1)).toMatchObject({
    type: 'agent_settled',
    outcome: 'error',
    errorCode: 'storage_failed',
    errorMessage: expect.stringMatching(/^Could not write the session: .+ was removed$/),
  });
  expect(records.some(({ type }) => type === 'message_update')).toBe(false);
});

verifies('J16 K15', 'a session file removed during a compaction ends the run with storage_failed', async ({ open }) => {
  const gate = newGate();
  const summary = { steps: [{ await: gate.path }, { text: '## Goal' }] };
  const { peer, sessionFiles } = await open({
    settings: { compaction: { keepRecentTokens: 50 } },
    script: [{ text: 'one '.repeat(200) }, { text: 'two '.repeat(200) }, { overflow: true }, summary, summary],
  });
  await peer.run('first');
  await peer.run('second');
  await peer.ok({ type: 'prompt', message: 'third' });
  await peer.next('compaction_start');

  rmSync(sessionFiles()[0] ?? '');
  gate.open();

  expect(await peer.next('compaction_end')).toMatchObject({ result: null, aborted: false, willRetry: false });
  expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'error', errorCode: 'storage_failed' });
  expect((await peer.ok({ type: 'get_state' })).isIdle).toBe(true);
});
