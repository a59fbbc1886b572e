import { expect, it } from 'vitest';
import { newGate } from '../../support/agent/test-agent.ts';
import { startServer } from '../../support/server/test-server.ts';

const LS = { type: 'bash', command: 'echo hello' };
const RAN = { role: 'bashExecution', output: 'hello\n' };

it('[W93] what one client ran in the shell is in the conversation of all', async () => {
  const server = await startServer();
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  await first.ok(LS);

  for (const peer of [first, second]) expect((await peer.next('state_synced')).messages).toMatchObject([RAN]);
});

it('[W93] during a run it is told once that has settled', async () => {
  const gate = newGate();
  const server = await startServer({ script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }] });
  const first = await server.attach({ stream: 'delta' });
  const second = await server.attach({ session: first.cursor.session });
  await first.ok({ type: 'prompt', message: 'Hi' });
  await second.next('message_update');

  await first.ok(LS);
  await first.ok({ type: 'get_state' });
  gate.open();

  for (const peer of [first, second]) {
    const { messages } = await peer.next('state_synced');
    expect(messages.at(-1)).toMatchObject(RAN);
    const told = peer.eventTypes.filter((type) => type === 'agent_settled' || type === 'state_synced');
    expect(told).toEqual(['state_synced', 'agent_settled', 'state_synced']);
  }
});
