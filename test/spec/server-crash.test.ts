import { expect, it } from 'vitest';
import { bash } from '../support/extensions.ts';
import { newGate, stored } from '../support/open.ts';
import { living, until } from '../support/processes.ts';
import { serve } from '../support/server.ts';
import { FOREVER } from '../support/shell.ts';

const NEXT = { text: 'Going on.', when: '^next', keep: true };

it('[W54] after a server was killed a client that comes back is told the end of its run, once', async () => {
  const gate = newGate();
  const script = [{ steps: [{ text: 'Well, ' }, { await: gate.path }], when: '^Hi' }, NEXT];
  const server = await serve({ script });
  const first = await server.attach({ stream: 'delta' });
  const { runId } = await first.ok({ type: 'prompt', message: 'Hi', clientMessageId: 'mine' });
  await first.next('message_update');
  await first.ok({ type: 'follow_up', message: 'next: queued', clientMessageId: 'queued' });
  const { cursor } = first;
  server.kill('SIGKILL');
  await server.exited;

  const again = await serve({ home: server.home, script });
  const back = await again.attach({ ...cursor, stream: 'delta' });
  await back.ok({ type: 'get_state' });
  const stranger = await again.attach({ session: cursor.session });
  await stranger.ok({ type: 'get_state' });

  expect(back.records[0]).toMatchObject({ type: 'server_connected', sessionId: cursor.session, resume: 'gap' });
  expect(back.cursor.epoch).not.toBe(cursor.epoch);
  const settled = { runId, outcome: 'error', errorCode: 'interrupted', clientMessageIds: ['mine'] };
  expect(back.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([settled]);
  expect(stranger.told).not.toContain('agent_settled');
  const synced = await back.find('state_synced');
  expect(synced).toMatchObject({ state: { isIdle: true, queuedMessages: [{ text: 'next: queued' }] } });

  expect((await back.run('next')).at(-1)).toMatchObject({ outcome: 'ok', clientMessageIds: ['queued'] });
  const { sessionFile } = await back.ok({ type: 'get_state' });
  const said = stored(sessionFile).filter(({ message }) => message?.role === 'user');
  expect(said.map(({ message }) => message.content[0].text)).toEqual(['Hi', 'next', 'next: queued']);
});

it('[W54] a run that had ended is not ended again', async () => {
  const server = await serve({ script: [NEXT] });
  const first = await server.attach();
  await first.run('next');
  server.kill('SIGKILL');
  await server.exited;

  const again = await serve({ home: server.home, script: [NEXT] });
  const back = await again.attach(first.cursor);
  await back.ok({ type: 'get_state' });

  expect(back.told).toEqual(['server_connected', 'state_synced']);
  expect(back.records[0]).toMatchObject({ resume: 'gap' });
});

it('[W55] when a server is killed its agents and their tools end', async () => {
  const server = await serve({ script: [{ ...bash(FOREVER), when: '^Hi' }, NEXT] });
  const idle = await server.attach();
  await idle.run('next');
  const busy = await server.attach();
  await busy.ok({ type: 'prompt', message: 'Hi' });
  const { partialResult } = await busy.next(
    ({ type, partialResult: result }) => type === 'tool_execution_update' && /\d+ \d+/.test(JSON.stringify(result)),
  );
  const tools = partialResult.content[0].text.match(/\d+/g).map(Number);
  const agents = server.agents().map(({ pid }) => pid);
  expect(await living([...agents, ...tools])).toHaveLength(4);

  server.kill('SIGKILL');
  await server.exited;

  await until(async () => (await living([...agents, ...tools])).length === 0);
});
