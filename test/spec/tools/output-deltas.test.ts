import { expect, it } from 'vitest';
import { bash } from '../../support/agent/extensions.ts';
import { waitUntilSettled } from '../../support/agent/run-records.ts';
import { newGate } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { startServer } from '../../support/server/test-server.ts';
import {
  echoHostTool,
  sendToolResult,
  setHostTools,
  textContent,
  toolCallStep,
} from '../../support/tools/host-tools.ts';
import { waitForFileCommand } from '../../support/tools/shell-commands.ts';
import { verifies } from '../../support/verifies.ts';

const LINES = 35_001;
const DELTAS = { stream: 'delta', legacyNames: 0, toolOutput: 'delta' };

const updatesIn = (records: readonly WireRecord[]) => records.filter(({ type }) => type === 'tool_execution_update');

/** Joins the deltas; fails if one does not continue where the last one ended. */
function joinedOutput(records: readonly WireRecord[]): string {
  let output = '';
  for (const { outputDelta, offset } of updatesIn(records)) {
    expect(offset).toBe(Buffer.byteLength(output));
    output += outputDelta;
  }
  return output;
}

verifies('T30', 'in delta form the updates of a command are its output, once', async ({ open }) => {
  const { peer } = await open({
    script: [bash(`seq -f 'Zeile ü %g' 1 ${LINES}`), { text: 'done' }],
  });
  const { capabilities } = await peer.ok({ type: 'hello', toolOutput: 'delta' });
  await peer.ok({ type: 'prompt', message: 'count' });
  await waitUntilSettled(peer);

  const output = Array.from({ length: LINES }, (_, n) => `Zeile ü ${n + 1}\n`).join('');
  const updates = updatesIn(peer.records);
  const wireBytes = Buffer.byteLength(updates.map((update) => JSON.stringify(update)).join('\n'));
  expect(capabilities).toMatchObject({ toolOutput: 'delta' });
  expect(joinedOutput(peer.records)).toBe(output);
  expect(wireBytes / Buffer.byteLength(output)).toBeLessThan(1.5);
  for (const update of updates) {
    expect(update).not.toHaveProperty('partialResult');
    expect(update).not.toHaveProperty('args');
  }
});

verifies('T30', 'the form both has the whole output and the new one', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [bash(waitForFileCommand(gate.path)), { text: 'done' }] });
  await peer.ok({ type: 'hello', toolOutput: 'both' });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(({ outputDelta }) => outputDelta === 'begun\n');
  gate.open();
  await waitUntilSettled(peer);

  expect(joinedOutput(peer.records)).toBe('begun\nover\n');
  expect(updatesIn(peer.records).at(-1)).toMatchObject({
    partialResult: { content: [{ text: 'begun\nover\n' }] },
    args: { command: expect.stringContaining('echo begun') },
  });
});

verifies('T31', 'a client that changes to delta form gets the output of the running command', async ({ open }) => {
  const gate = newGate();
  const { peer } = await open({ script: [bash(waitForFileCommand(gate.path)), { text: 'done' }] });
  await peer.ok({ type: 'prompt', message: 'work' });
  await peer.find(({ partialResult }) => JSON.stringify(partialResult ?? '').includes('begun'));

  await peer.ok({ type: 'hello', toolOutput: 'delta' });
  await peer.find(({ outputDelta }) => outputDelta === 'begun\n');
  gate.open();
  await waitUntilSettled(peer);

  const deltas = updatesIn(peer.records).filter(({ outputDelta }) => outputDelta !== undefined);
  expect(joinedOutput(deltas)).toBe('begun\nover\n');
});

verifies('T33', 'the progress of a host tool is whole in every form', async ({ open }) => {
  const { peer } = await open({ script: [toolCallStep('echo_host', { message: 'hello' }), { text: 'done' }] });
  await setHostTools(peer, echoHostTool);
  await peer.ok({ type: 'hello', toolOutput: 'delta' });
  await peer.ok({ type: 'prompt', message: 'go' });
  const call = await peer.next('host_tool_call');
  peer.send({ type: 'host_tool_update', id: call.id, partialResult: { content: textContent('working') } });

  const update = await peer.next('tool_execution_update');

  expect(update).toMatchObject({ args: { message: 'hello' }, partialResult: { content: textContent('working') } });
  expect(update).not.toHaveProperty('outputDelta');
  sendToolResult(peer, call, 'hello');
  await waitUntilSettled(peer);
});

it('[W137] clients of a session get the output in the form that each requested', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [bash(waitForFileCommand(gate.path)), { text: 'done' }],
  });
  const cumulative = await server.attach();
  const { session } = cumulative.cursor;
  const delta = await server.attach({ session, ...DELTAS });
  await cumulative.ok({ type: 'prompt', message: 'work' });
  await delta.find(({ outputDelta }) => outputDelta === 'begun\n');
  const late = await server.attach({ session, ...DELTAS });
  const changed = await server.attach({ session });
  await changed.ok({ type: 'hello', toolOutput: 'delta' });
  await Promise.all([late, changed].map((peer) => peer.find(({ outputDelta }) => outputDelta === 'begun\n')));
  gate.open();
  await Promise.all([cumulative, delta, late, changed].map((peer) => peer.next('agent_settled')));

  const deltasOf = (peer: typeof late) => updatesIn(peer.records).filter((update) => 'outputDelta' in update);
  expect(updatesIn(cumulative.records).at(-1)).toMatchObject({
    partialResult: { content: [{ text: 'begun\nover\n' }] },
  });
  expect(deltasOf(cumulative)).toEqual([]);
  for (const peer of [delta, late, changed]) expect(joinedOutput(deltasOf(peer))).toBe('begun\nover\n');
});

it('[W138] a client in delta form that resumes gets the output that it missed, once', async () => {
  const gates = [newGate(), newGate()] as const;
  const server = await startServer({
    script: [
      bash(`${waitForFileCommand(gates[0].path)}; ${waitForFileCommand(gates[1].path, 'more')}`),
      { text: 'done' },
    ],
  });
  const first = await server.attach(DELTAS);
  const other = await server.attach({ session: first.cursor.session });
  await first.ok({ type: 'prompt', message: 'work' });
  await first.find(({ outputDelta }) => outputDelta === 'begun\n');
  const { cursor } = first;
  first.socket.terminate();
  gates[0].open();
  await other.find(({ partialResult }) => JSON.stringify(partialResult ?? '').includes('more'));

  const second = server.connect({ ...cursor, ...DELTAS });
  await second.find(({ outputDelta }) => String(outputDelta).includes('more'));
  gates[1].open();
  await second.next('agent_settled');

  expect(second.records[0]).toMatchObject({ resume: 'ok' });
  expect(joinedOutput([...first.records, ...second.records])).toBe('begun\nover\nmore\nover\n');
});
