import { expect, it, vi } from 'vitest';
import type { CustomToolCall } from '../custom-tools.ts';
import { attached, connected, reached, remote, synced } from '../testing/remote-server.node.ts';
import type { ConnectionStatus } from './reconnecting-socket.ts';

it('[V11] a listener may close the session during an event', async () => {
  const { server, session } = await remote();
  session.onEvent(() => session.close());

  (await server.connection()).send(connected(), synced());
  await reached(session, 'closed');

  expect(session.status).toEqual({ state: 'closed', reason: 'The client was closed' });
});

it('[V11] a tool may close the session when the lost connection aborts it', async () => {
  const { session, connection } = await attached();
  const run = new Promise<void>((begun) => {
    const execute = (_args: object, { signal }: CustomToolCall) =>
      new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => {
          session.close();
          resolve('over');
        });
        begun();
      });
    void session.setCustomTools([{ name: 'wait', description: 'Waits', parameters: {}, execute }]);
  });
  connection.respond(await connection.next(), { toolNames: ['wait'] });
  connection.send({ type: 'host_tool_call', id: 'h1', toolCallId: 't1', toolName: 'wait', arguments: {} });
  await run;
  const seen: ConnectionStatus[] = [];
  session.onState((status) => seen.push(status));

  connection.cut();
  await reached(session, 'closed');
  vi.advanceTimersByTime(3_600_000);

  expect(seen).toEqual([{ state: 'closed', reason: 'The client was closed' }]);
  expect(vi.getTimerCount()).toBe(0);
});

it('[V11] closing rejects every pending call, also before the first connection', async () => {
  const { server, session } = await remote();
  const waiting = [session.getState(), session.promptAndWait('x')];
  const outcomes = Promise.allSettled(waiting);
  const events = session.events();

  session.close();
  session.close();

  for (const outcome of await outcomes) expect(outcome).toHaveProperty('reason.message', 'The client was closed');
  expect(await events.next()).toMatchObject({ done: true });
  session.send({ type: 'extension_ui_response', id: 'x', cancelled: true });
  expect(session.outbox).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
  server.close();
});
