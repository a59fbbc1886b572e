import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import {
  newToken,
  slowAgent,
  startTarget,
  TARGET_TOKEN,
  type Target,
  type TargetClient,
} from '../../support/server/attack-target.ts';

const MiB = 1024 * 1024;

/** Encodes one WebSocket frame, masked with zeros unless `masked` is false. */
function frame(payload: Uint8Array | string, { opcode = 1, fin = true, rsv = 0, masked = true } = {}): Buffer {
  const bytes = Buffer.from(payload);
  const head = [(fin ? 0x80 : 0) | rsv | opcode];
  const mask = masked ? 0x80 : 0;
  if (bytes.length < 126) head.push(mask | bytes.length);
  else if (bytes.length < 65_536) head.push(mask | 126, bytes.length >> 8, bytes.length & 255);
  else head.push(mask | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (bytes.length >>> shift) & 255));
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), bytes]);
}

/** Opens a WebSocket on a raw socket. */
async function rawSocket(target: Target): Promise<{ socket: Socket; ended: Promise<Buffer> }> {
  const socket = target.openSocket(
    [
      `GET /session?token=${TARGET_TOKEN} HTTP/1.1`,
      `Host: 127.0.0.1:${target.port}`,
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
      'Sec-WebSocket-Extensions: permessage-deflate',
      '',
      '',
    ].join('\r\n'),
  );
  const chunks: Buffer[] = [];
  const ended = new Promise<Buffer>((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks))));
  await new Promise<void>((resolve) => {
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (Buffer.concat(chunks).includes('server_connected')) resolve();
    });
  });
  expect(Buffer.concat(chunks).toString()).not.toMatch(/permessage-deflate/i);
  return { socket, ended };
}

/** Returns a function that runs a prompt in an undisturbed session. */
async function startWorker(target: Target): Promise<() => Promise<void>> {
  const client = await target.connect();
  await client.location();
  return async () => {
    await client.run('say hello');
    expect((await client.ok({ type: 'get_last_assistant_text' })).text).toBe('hello');
  };
}

const memoryOf = ({ pid }: Target) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

it('[W71] a malformed frame closes its connection with its code and disturbs no other client', async () => {
  const target = await startTarget();
  const control = await startWorker(target);
  const command = '{"type":"ping"}';
  const malformedFrames: readonly (readonly [string, number, readonly Buffer[]])[] = [
    ['a compressed frame', 1002, [frame(command, { rsv: 0x40 })]],
    ['reserved bits', 1002, [frame(command, { rsv: 0x20 })]],
    ['an unmasked frame', 1002, [frame(command, { masked: false })]],
    ['an unknown opcode', 1002, [frame(command, { opcode: 5 })]],
    ['a continuation without a start', 1002, [frame(command, { opcode: 0 })]],
    ['a new message within another', 1002, [frame('{', { fin: false }), frame(command)]],
    ['a long ping', 1002, [frame('x'.repeat(126), { opcode: 9 })]],
    ['a fragmented ping', 1002, [frame('x', { opcode: 9, fin: false })]],
    ['text that is not UTF-8', 1007, [frame(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))]],
    ['half a character', 1007, [frame(Uint8Array.of(0x22, 0xf0, 0x9f))]],
    ['a length over the limit', 1009, [Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0])]],
    ['an impossible length', 1009, [Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]],
    [
      'too many fragments',
      1009,
      [frame('', { fin: false }), ...Array.from({ length: 2000 }, () => frame('', { opcode: 0, fin: false }))],
    ],
    [
      'fragments over the limit',
      1009,
      [frame(Buffer.alloc(20 * MiB, ' '), { fin: false }), frame(Buffer.alloc(20 * MiB, ' '), { opcode: 0 })],
    ],
  ];

  for (const [label, code, frames] of malformedFrames) {
    const { socket, ended } = await rawSocket(target);
    socket.write(Buffer.concat(frames));
    const received = await ended;

    const close = received.subarray(received.lastIndexOf('"code":') - 1).toString('latin1');
    expect([label, received.includes(`"type":"server_disconnected","reason":"error"`)]).toEqual([label, true]);
    expect([label, close.includes(`"code":${code}`)]).toEqual([label, true]);
    expect([label, received.includes(Buffer.from([code >> 8, code & 255]))]).toEqual([label, true]);
  }
  await control();
});

it('[W71 F16] long, deep or wide messages get an error and cost bounded memory', async () => {
  const target = await startTarget();
  const control = await startWorker(target);
  const before = memoryOf(target);
  const bombs = [
    '['.repeat(20 * MiB),
    '{"a":'.repeat(4 * MiB),
    `{"type":"get_state","more":[${'{},'.repeat(6 * MiB)}0]}`,
    `{"type":"get_state","more":{${'"k":0,'.repeat(3 * MiB)}"x":0}}`,
    '{"type":"prompt","message":"'.padEnd(20 * MiB, 'x'),
    `${'[{'.repeat(8 * MiB)}`,
  ];

  for (const bomb of bombs) {
    const client = await target.connect();
    await client.location();
    client.send(bomb);

    expect(await client.next('response')).toMatchObject({ command: 'parse', success: false, code: 'invalid_json' });
    expect(await client.next('server_error')).toMatchObject({ code: 'invalid_json' });
    await control();
  }
  expect(memoryOf(target) - before).toBeLessThan(500);
});

it('[W105] a client that may not prompt is closed for a message over 256 KiB', async () => {
  const target = await startTarget();
  const host = await target.connect();
  const { sessionId } = await host.location();
  const { token } = await newToken(target.home, { scope: 'view' });
  const viewer = await target.connect({ token, session: sessionId });
  await viewer.location();
  const { limits } = await viewer.ok({ type: 'hello' });

  viewer.send('{"type":"get_state","pad":"'.padEnd(limits.maxLineBytes + 1, 'x'));

  expect(limits.maxLineBytes).toBe(256 * 1024);
  expect(await viewer.ended).toMatchObject({ code: 1009 });
});

it('[W105] a message that does not end is closed with 4408, whatever pings come with it', async () => {
  const target = await startTarget({ args: ['--ping-seconds', '2'] });
  const idle = await target.connect();
  await idle.location();
  const { socket, ended } = await rawSocket(target);

  socket.write(frame('{"type":"get_state","pad":"', { fin: false }));
  const answer = [frame('', { opcode: 10 }), frame('more', { opcode: 0, fin: false })];
  socket.on('data', (chunk: Buffer) => {
    if (!socket.destroyed && chunk.includes(0x89)) socket.write(Buffer.concat(answer));
  });

  expect((await ended).toString()).toContain('A message took too long to arrive');
  await idle.ok({ type: 'get_state' });
});

it('[W72] floods of lines, blank lines or empty messages are closed with 4429', async () => {
  const target = await startTarget();
  const control = await startWorker(target);
  const floods = [
    '{"type":"ping"}\n'.repeat(100_000),
    '\n'.repeat(30 * MiB),
    '1\n'.repeat(10 * MiB),
    Array<string>(20_000).fill(''),
    Array<string>(20_000).fill('\n'),
    Array<string>(20_000).fill('{"type":"extension_ui_response","id":"1","cancelled":true}'),
    Array<string>(20_000).fill('nonsense'),
  ];

  for (const flood of floods) {
    const client = await target.connect();
    await client.location();
    for (const message of [flood].flat()) client.send(message);

    expect(await client.ended).toEqual({ code: 4429, reason: 'Too many commands' });
    expect(client.records.slice(-2)).toMatchObject([
      { type: 'server_error', code: 'overloaded' },
      { type: 'server_disconnected', reason: 'error', code: 4429 },
    ]);
    await control();
  }
});

it('[W72] a flood of commands gets overloaded responses before it is closed, and each command is answered', async () => {
  const target = await startTarget();
  const control = await startWorker(target);
  const client = await target.connect();
  await client.location();

  for (let index = 0; index < 10_000; index++) client.send({ type: 'ping', id: index });
  await client.ended;

  const responses = client.records.filter(({ type }) => type === 'response');
  const rejected = responses.findIndex(({ success }) => success === false);
  expect(rejected).toBeGreaterThanOrEqual(1000);
  expect(responses[rejected]).toMatchObject({ code: 'overloaded' });
  expect(responses.map(({ id }) => id)).toEqual(responses.map((_, index) => index));
  await control();
});

it('[W72] a client may have 256 unanswered commands; the next is rejected, and an abort still works', async () => {
  const target = await startTarget();
  const client = await target.connect();
  const other = await target.connect({ session: (await client.location()).sessionId });
  await client.ok({ type: 'prompt', message: 'stall' });
  await client.find('message_update');

  for (let index = 0; index < 300; index++) client.send({ type: 'wait_idle', id: index });
  const first = await client.find(({ type, success }) => type === 'response' && success === false);
  await other.ok({ type: 'get_state' });
  await other.ok({ type: 'abort' });
  await client.find(({ type, id }) => type === 'response' && id === 0);

  expect(first).toMatchObject({ id: 256, code: 'overloaded' });
  const idleResponses = client.records.filter(({ type, command }) => type === 'response' && command === 'wait_idle');
  expect(idleResponses.filter(({ success }) => success === false)).toHaveLength(44);
});

it('[W72] the pending commands of one token do not block other tokens', async () => {
  const target = await startTarget();
  const host = await target.connect();
  const { sessionId } = await host.location();
  const { token } = await newToken(target.home, { scope: 'view' });
  await host.ok({ type: 'prompt', message: 'stall' });
  const crowd = await Promise.all(Array.from({ length: 10 }, () => target.connect({ token, session: sessionId })));
  await Promise.all(crowd.map((client) => client.location()));

  for (const client of crowd) {
    for (let index = 0; index < 250; index++) client.send({ type: 'wait_idle', id: index });
    await client.ok({ type: 'ping' }).catch(() => {});
  }
  const late = await target.connect({ session: sessionId });
  await late.location();
  await late.ok({ type: 'abort' });

  const rejected = crowd.map(({ records }) => records.filter(({ success }) => success === false).length);
  expect(rejected.slice(0, 2)).toEqual([0, 0]);
  expect(rejected.slice(3)).toEqual(rejected.slice(3).map(() => 251));
});

it('[W73] commands sent before server_connected wait and are answered', async () => {
  const target = await startTarget();
  const client = await target.connect();

  for (let index = 0; index < 200; index++) client.send({ type: 'get_state', id: index });
  await client.find(({ type, id }) => type === 'response' && id === 199);

  const [first] = client.records;
  expect(first).toMatchObject({ type: 'server_connected' });
  const responses = client.records.filter(({ type }) => type === 'response');
  expect(responses.map(({ id, success }) => [id, success])).toEqual(responses.map((_, index) => [index, true]));
});

it('[W72 W73] commands that wait for a starting session count towards the limits', async () => {
  const { agent, release } = slowAgent();
  const target = await startTarget({ args: ['--agent-command', agent] });
  const client = await target.connect();

  for (let index = 0; index < 80; index++) client.send({ type: 'prompt', message: 'x'.repeat(4 * MiB) });
  const end = await client.ended;
  release();

  expect(end).toEqual({ code: 4429, reason: 'Too many commands' });
});

it('[W71] binary messages are read as the same lines', async () => {
  const target = await startTarget();
  const client = await target.connect();

  client.send(Buffer.from('{"type":"ping","id":"binary"}\n{"type":"ping","id":"second"}'));

  await client.find(({ id }) => id === 'second');
});

it('[W72] a client that pings or queries without reading costs bounded memory', async () => {
  const target = await startTarget({ script: [{ steps: [{ text: 'abcdefgh'.repeat(1000), times: 500 }] }] });
  const control = await target.connect();
  const { sessionId } = await control.location();
  await control.run('a long answer');
  const before = memoryOf(target);
  const openPaused = async (): Promise<TargetClient> => {
    const client = await target.connect({ session: sessionId });
    await client.find('state_synced');
    client.socket.pause();
    return client;
  };

  const querying = await openPaused();
  for (let index = 0; index < 250; index++) querying.send({ type: 'get_messages' });
  const pinger = await openPaused();
  for (let index = 0; index < 100; index++) {
    await new Promise<void>((resolve) => {
      for (let count = 0; count < 1000; count++) pinger.socket.ping('x'.repeat(125), true, () => {});
      pinger.socket.ping('', true, () => resolve());
    });
  }
  await control.ok({ type: 'get_state' });
  querying.socket.resume();
  await querying.find(({ command }) => command === 'get_messages');

  expect(memoryOf(target) - before).toBeLessThan(400);
});
