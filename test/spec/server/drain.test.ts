import { expect, it } from 'vitest';
import { bash, fixture, userExtension } from '../../support/agent/extensions.ts';
import { newGate, newHome, readSessionFile, sessionFiles } from '../../support/agent/test-agent.ts';
import { filterAlive } from '../../support/processes/processes.ts';
import { itOnOneServer, startServer } from '../../support/server/test-server.ts';
import { SLEEP_FOREVER } from '../../support/tools/shell-commands.ts';

const NEXT = { text: 'Going on.', when: '^next', keep: true };
const RESTART = { type: 'server_disconnected', reason: 'close', code: 1012, retryAfterMs: expect.any(Number) };

itOnOneServer('a front node has no runs to wait for')(
  '[W57] on SIGTERM the server disconnects idle clients at once, and others after their run',
  async () => {
    const gate = newGate();
    const server = await startServer({
      script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }, { text: 'done.' }], when: '^Hi' }, NEXT],
    });
    const idle = await server.attach();
    const busy = await server.attach();
    await busy.ok({ type: 'prompt', message: 'Hi' });
    await busy.next('message_update');

    server.kill('SIGTERM');
    expect(await idle.ended).toMatchObject({ code: 1012 });
    expect(idle.records.at(-1)).toMatchObject(RESTART);
    expect(await busy.ok({ type: 'get_state' })).toMatchObject({ isStreaming: true });
    const late = server.connect();
    expect(await late.ended).toMatchObject({ code: 1012 });
    expect(late.records.at(-1)).toMatchObject(RESTART);
    const ready = await server.get('/readyz');
    expect(ready.status).toBe(503);
    gate.open();

    expect(await busy.ended).toMatchObject({ code: 1012 });
    expect(busy.records.findLast(({ type }) => type === 'agent_settled')).toMatchObject({ outcome: 'ok' });
    expect(busy.records.at(-1)).toMatchObject(RESTART);
    expect(await server.exited).toEqual({ code: 143, signal: null });
    expect(await filterAlive(server.agents().map(({ pid }) => pid))).toEqual([]);
  },
);

itOnOneServer('a front node has no agents')(
  '[W57] a client that connects while idle agents end gets 1012',
  async () => {
    const gate = newGate();
    const home = newHome();
    const wait = `while (!existsSync('${gate.path}')) await new Promise((resolve) => setTimeout(resolve, 10));`;
    const code = `import { existsSync } from 'node:fs';
    export default (pi) => pi.on('session_shutdown', async () => { ${wait} });`;
    userExtension(home, 'slow-end.ts', code);
    const server = await startServer({ home });
    const idle = await server.attach();

    server.kill('SIGTERM');
    await idle.ended;
    const late = server.connect();

    expect(await late.ended).toMatchObject({ code: 1012 });
    expect(late.records.at(-1)).toMatchObject(RESTART);
    gate.open();
    expect(await server.exited).toEqual({ code: 143, signal: null });
  },
);

itOnOneServer('a front node has no runs to wait for')(
  '[W57] a draining server waits for a run that waits for a dialog',
  async () => {
    const script = [{ ...bash('rm -f nothing'), when: '^Hi' }, { text: 'Done.' }];
    const server = await startServer({ script, agentArgs: ['-e', fixture('tool-call-gate')] });
    const idle = await server.attach();
    const busy = await server.attach();
    await busy.ok({ type: 'prompt', message: 'Hi' });
    const { id } = await busy.next('extension_ui_request');

    server.kill('SIGTERM');
    await idle.ended;
    await busy.ok({ type: 'get_state' });
    busy.send({ type: 'extension_ui_response', id, confirmed: true });

    expect(await busy.next('agent_settled')).toMatchObject({ outcome: 'ok' });
    expect(await busy.ended).toMatchObject({ code: 1012 });
  },
);

itOnOneServer('a front node has no runs to wait for')(
  '[W57] a run over the drain limit is aborted and stored, and its clients get agent_settled',
  async () => {
    const server = await startServer({
      script: [{ ...bash(SLEEP_FOREVER), when: '^Hi' }, NEXT],
      args: ['--drain-seconds', '0'],
    });
    const peer = await server.attach();
    await peer.ok({ type: 'prompt', message: 'Hi' });
    const { partialResult } = await peer.next(
      ({ type, partialResult: result }) => type === 'tool_execution_update' && /\d+ \d+/.test(JSON.stringify(result)),
    );
    const tools = partialResult.content[0].text.match(/\d+/g).map(Number);

    server.kill('SIGTERM');

    expect(await peer.ended).toMatchObject({ code: 1012 });
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([{ outcome: 'aborted' }]);
    await server.exited;
    expect(await filterAlive(tools)).toEqual([]);
    const [file = ''] = sessionFiles(server.home);
    expect(readSessionFile(file).flatMap(({ message }) => message?.role ?? [])).toEqual([
      'user',
      'assistant',
      'toolResult',
    ]);
  },
);

itOnOneServer('a front node has no agents')(
  '[W57] the run of an agent that has to be killed ends before its clients are closed',
  async () => {
    const gate = newGate();
    const server = await startServer({
      script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }],
      args: ['--drain-seconds', '0'],
    });
    const peer = await server.attach();
    const { runId } = await peer.ok({ type: 'prompt', message: 'Hi' });
    await peer.next('message_update');
    for (const { pid } of server.agents()) process.kill(pid, 'SIGSTOP');

    server.kill('SIGTERM');

    expect(await peer.ended).toMatchObject({ code: 1012 });
    expect(peer.records.filter(({ type }) => type === 'agent_settled')).toMatchObject([
      { runId, outcome: 'error', errorCode: 'interrupted' },
    ]);
    expect(await server.exited).toEqual({ code: 143, signal: null });
  },
);

it('[W57] a second signal ends the server at once', async () => {
  const gate = newGate();
  const server = await startServer({ script: [{ steps: [{ text: 'Well, ' }, { await: gate.path }] }] });
  const idle = await server.attach();
  const busy = await server.attach();
  await busy.ok({ type: 'prompt', message: 'Hi' });
  await busy.next('message_update');
  server.kill('SIGTERM');
  await idle.ended;

  server.kill('SIGTERM');

  expect(await server.exited).toEqual({ code: 143, signal: null });
});

it('[W57] a server without clients ends on a signal', async () => {
  const server = await startServer();
  server.kill('SIGINT');
  expect(await server.exited).toEqual({ code: 130, signal: null });
});
