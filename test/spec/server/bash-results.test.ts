import { expect, it } from 'vitest';
import { newGate } from '../../support/agent/test-agent.ts';
import { startServer } from '../../support/server/test-server.ts';

const ECHO = { type: 'bash', command: 'echo hello' };
const ECHO_RESULT = { role: 'bashExecution', output: 'hello\n' };

it('[W93] after a bash command every client gets a snapshot with its result', async () => {
  const server = await startServer();
  const first = await server.attach();
  const second = await server.attach({ session: first.cursor.session });

  await first.ok(ECHO);

  for (const peer of [first, second]) expect((await peer.next('state_synced')).messages).toMatchObject([ECHO_RESULT]);
});

it('[W93] the result of a bash command during a run is sent after the run has settled', async () => {
  const gate = newGate();
  const server = await startServer({
    script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }] }],
  });
  const first = await server.attach({ stream: 'delta' });
  const second = await server.attach({ session: first.cursor.session });
  await first.ok({ type: 'prompt', message: 'Hi' });
  await second.next('message_update');

  await first.ok(ECHO);
  await first.ok({ type: 'get_state' });
  gate.open();

  for (const peer of [first, second]) {
    const { messages } = await peer.next('state_synced');
    expect(messages.at(-1)).toMatchObject(ECHO_RESULT);
    const types = peer.eventTypes.filter((type) => type === 'agent_settled' || type === 'state_synced');
    expect(types).toEqual(['state_synced', 'agent_settled', 'state_synced']);
  }
});
