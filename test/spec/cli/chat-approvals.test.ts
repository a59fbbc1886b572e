import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { newHome } from '../../support/agent/test-agent.ts';
import { CTRL_D, ENTER, startTauInTerminal } from '../../support/processes/terminal.ts';

type Sent = Record<string, unknown> & { type: string };

const approval = (command: string) => ({
  kind: 'tool',
  toolCallId: 'c1',
  toolName: 'bash',
  source: 'builtin',
  title: 'Run this command?',
  subject: { type: 'command', command, cwd: '/app' },
  why: { mode: 'ask' },
  options: [
    { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
    { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
  ],
});

const question = (id: string, command: string) => ({
  type: 'extension_ui_request',
  id,
  method: 'select',
  title: 'Run this command?',
  options: ['Allow once', 'Deny'],
  approval: approval(command),
});

/** `tau attach new` in a terminal, on a server that the test plays. */
async function attachNew() {
  const http = createServer((_request, response) => void response.end('{}'));
  const sockets = new WebSocketServer({ server: http });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const { port } = http.address() as AddressInfo;
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    http.close();
  });
  const connected = once(sockets, 'connection') as Promise<[WebSocket]>;
  const chat = startTauInTerminal(newHome(), ['attach', `ws://127.0.0.1:${port}`, 'new'], { columns: 60 });
  const [socket] = await connected;
  const sent: Sent[] = [];
  let wake = () => {};
  const send = (...records: object[]) => {
    for (const record of records) socket.send(JSON.stringify(record));
  };
  const respond = ({ id, type }: Sent, data: object) =>
    send({ id, type: 'response', command: type, success: true, data });
  socket.on('message', (data) => {
    const record = JSON.parse(String(data)) as Sent;
    if (record.type === 'ping') return respond(record, {});
    sent.push(record);
    wake();
  });
  const next = async (): Promise<Sent> => {
    while (sent.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    return sent.shift() as Sent;
  };
  const state = { sessionId: 's1', cwd: '/app', messageCount: 0, queuedMessages: [], approvalMode: 'full' };
  send(
    { type: 'server_connected', sessionFile: null, sessionId: 's1', seq: 0, epoch: 'e1', pingMs: 20_000 },
    { type: 'state_synced', state, messages: [] },
  );
  return { chat, send, respond, next };
}

it('[A121] tau attach new requests auto, and answers questions about tool calls by a letter', async () => {
  const { chat, send, respond, next } = await attachNew();
  const request = await next();
  respond(request, { approvalMode: 'auto', sandbox: { status: 'unavailable', reason: 'no bwrap' } });
  send({
    type: 'state_changed',
    state: { approvalMode: 'auto', sandbox: { status: 'unavailable', reason: 'no bwrap' } },
  });
  await chat.waitForScreen('s1 in /app, with no model.\n');
  await chat.waitForScreen('\nApprovals: auto. Sandbox: none works here (no bwrap).\n›');

  send(question('q1', `echo ${'x'.repeat(80)}\u001B[2J`), question('q2', 'rm -rf build'));
  await chat.waitForScreen('  y  1. Allow once\n  n  2. Deny\n');
  const screen = chat.screen();
  chat.type(`y${ENTER}`);
  const first = await next();
  await chat.waitForScreen('\n  │ rm -rf build\nIn /app\nMode ask.\n');
  chat.type(`n keep the build${ENTER}`);
  const second = await next();
  chat.type(CTRL_D);

  expect(await chat.finished).toMatchObject({ code: 0 });
  expect(request).toMatchObject({ type: 'set_approval_mode', mode: 'auto', sandbox: 'auto' });
  expect(screen).toContain(`\n  │ echo ${'x'.repeat(51)}\n  │ ${'x'.repeat(29)}\\u{1b}[2J\nIn /app\n`);
  expect(first).toEqual({ type: 'extension_ui_response', id: 'q1', value: 'once' });
  expect(second).toEqual({ type: 'extension_ui_response', id: 'q2', value: 'deny', message: 'keep the build' });
});

it('[A121] text that is typed for a question is dropped when another client answers it', async () => {
  const { chat, send, respond, next } = await attachNew();
  respond(await next(), { approvalMode: 'auto', sandbox: { status: 'on' } });
  send(question('q1', 'first'), question('q2', 'second'));
  await chat.waitForScreen('\n  │ first\n');
  chat.type('n not this');
  await chat.waitForScreen('\n› n not this');

  send({ type: 'extension_ui_resolved', id: 'q1', by: 'answer' });
  await chat.waitForScreen('\n(This question is closed.)\nRun this command?\n  │ second\n');
  chat.type(`y${ENTER}`);
  const answer = await next();
  chat.type(CTRL_D);
  await chat.finished;

  expect(answer).toEqual({ type: 'extension_ui_response', id: 'q2', value: 'once' });
});

it('[A131] /mode works while a question is open, and the question stays', async () => {
  const { chat, send, respond, next } = await attachNew();
  respond(await next(), { approvalMode: 'auto', sandbox: { status: 'on' } });
  send(question('q1', 'first'));
  await chat.waitForScreen('\n  │ first\n');

  chat.type(`/mode full${ENTER}`);
  const command = await next();
  respond(command, { approvalMode: 'full', sandbox: { status: 'off' } });
  await chat.waitForScreen('\nApprovals: full. Sandbox: off.\n');
  send({ type: 'extension_ui_resolved', id: 'q1', by: 'mode' });
  await chat.waitForScreen('\n(This question is closed.)\n');
  chat.type(`y${ENTER}`);
  const prompt = await next();
  chat.type(CTRL_D);
  await chat.finished;

  expect(command).toMatchObject({ type: 'set_approval_mode', mode: 'full' });
  expect(prompt).toMatchObject({ type: 'prompt', message: 'y' });
});
