import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { auditPath } from '../../../src/server/auth/audit.ts';
import { newToken, TARGET_TOKEN, readAll, startTarget, slowAgent, type Target, type TargetClient } from '../../support/server/attack-target.ts';

const MiB = 1024 * 1024;

/** One frame as it stands on the wire, masked with zeros unless it must not be. */
function frame(payload: Uint8Array | string, { opcode = 1, fin = true, rsv = 0, masked = true } = {}): Buffer {
  const bytes = Buffer.from(payload);
  const head = [(fin ? 0x80 : 0) | rsv | opcode];
  const mask = masked ? 0x80 : 0;
  if (bytes.length < 126) head.push(mask | bytes.length);
  else if (bytes.length < 65_536) head.push(mask | 126, bytes.length >> 8, bytes.length & 255);
  else head.push(mask | 127, 0, 0, 0, 0, ...[24, 16, 8, 0].map((shift) => (bytes.length >>> shift) & 255));
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0), bytes]);
}

/** A socket of which the test writes every byte after the upgrade. */
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

/** Somebody who works on, whatever others do. */
async function worker(target: Target): Promise<() => Promise<void>> {
  const visitor = await target.connect();
  await visitor.location();
  return async () => {
    await visitor.run('say hello');
    expect((await visitor.ok({ type: 'get_last_assistant_text' })).text).toBe('hello');
  };
}

const memoryOf = ({ pid }: Target) =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

it('[W71] what is no frame of ours is closed with its code, after the last words, and disturbs nobody', async () => {
  const target = await startTarget();
  const works = await worker(target);
  const command = '{"type":"ping"}';
  const bad: readonly (readonly [string, number, readonly Buffer[]])[] = [
    ['a compressed frame', 1002, [frame(command, { rsv: 0x40 })]],
    ['reserved bits', 1002, [frame(command, { rsv: 0x20 })]],
    ['an unmasked frame', 1002, [frame(command, { masked: false })]],
    ['an unknown opcode', 1002, [frame(command, { opcode: 5 })]],
    ['a continuation of nothing', 1002, [frame(command, { opcode: 0 })]],
    ['a new message within another', 1002, [frame('{', { fin: false }), frame(command)]],
    ['a long ping', 1002, [frame('x'.repeat(126), { opcode: 9 })]],
    ['a ping in pieces', 1002, [frame('x', { opcode: 9, fin: false })]],
    ['text that is no UTF-8', 1007, [frame(Uint8Array.of(0x22, 0xff, 0xfe, 0x22))]],
    ['half a character', 1007, [frame(Uint8Array.of(0x22, 0xf0, 0x9f))]],
    ['more than fits', 1009, [Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0])]],
    ['more than there is', 1009, [Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]],
    [
      'too many pieces',
      1009,
      [frame('', { fin: false }), ...Array.from({ length: 2000 }, () => frame('', { opcode: 0, fin: false }))],
    ],
    [
      'pieces that grow too big',
      1009,
      [frame(Buffer.alloc(20 * MiB, ' '), { fin: false }), frame(Buffer.alloc(20 * MiB, ' '), { opcode: 0 })],
    ],
  ];

  for (const [what, code, frames] of bad) {
    const { socket, ended } = await rawSocket(target);
    socket.write(Buffer.concat(frames));
    const said = await ended;

    const close = said.subarray(said.lastIndexOf('"code":') - 1).toString('latin1');
    expect([what, said.includes(`"type":"server_disconnected","reason":"error"`)]).toEqual([what, true]);
    expect([what, close.includes(`"code":${code}`)]).toEqual([what, true]);
    expect([what, said.includes(Buffer.from([code >> 8, code & 255]))]).toEqual([what, true]);
  }
  await works();
});

it('[W71 F16] messages that are long, deep or wide are answered, and cost neither the memory nor the time of others', async () => {
  const target = await startTarget();
  const works = await worker(target);
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
    const visitor = await target.connect();
    await visitor.location();
    visitor.send(bomb);

    expect(await visitor.next('response')).toMatchObject({ command: 'parse', success: false, code: 'invalid_json' });
    expect(await visitor.next('server_error')).toMatchObject({ code: 'invalid_json' });
    await works();
  }
  expect(memoryOf(target) - before).toBeLessThan(500);
});

it('[W72] thousands of lines in a message, blank ones too, and messages without any, end with 4429', async () => {
  const target = await startTarget();
  const works = await worker(target);
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
    const visitor = await target.connect();
    await visitor.location();
    for (const message of [flood].flat()) visitor.send(message);

    expect(await visitor.ended).toEqual({ code: 4429, reason: 'Too many commands' });
    expect(visitor.records.slice(-2)).toMatchObject([
      { type: 'server_error', code: 'overloaded' },
      { type: 'server_disconnected', reason: 'error', code: 4429 },
    ]);
    await works();
  }
});

it('[W72] a flood of commands is refused with overloaded first, and each is answered until the end', async () => {
  const target = await startTarget();
  const works = await worker(target);
  const visitor = await target.connect();
  await visitor.location();

  for (let index = 0; index < 10_000; index++) visitor.send({ type: 'ping', id: index });
  await visitor.ended;

  const answers = visitor.records.filter(({ type }) => type === 'response');
  const refused = answers.findIndex(({ success }) => success === false);
  expect(refused).toBeGreaterThanOrEqual(1000);
  expect(answers[refused]).toMatchObject({ code: 'overloaded' });
  expect(answers.map(({ id }) => id)).toEqual(answers.map((_, index) => index));
  await works();
});

it('[W72] one client has 256 commands unanswered at most; the next is refused, and abort gets through', async () => {
  const target = await startTarget();
  const visitor = await target.connect();
  const other = await target.connect({ session: (await visitor.location()).sessionId });
  await visitor.ok({ type: 'prompt', message: 'stall' });
  await visitor.find('message_update');

  for (let index = 0; index < 300; index++) visitor.send({ type: 'wait_idle', id: index });
  const first = await visitor.find(({ type, success }) => type === 'response' && success === false);
  await other.ok({ type: 'get_state' });
  await other.ok({ type: 'abort' });
  await visitor.find(({ type, id }) => type === 'response' && id === 0);

  expect(first).toMatchObject({ id: 256, code: 'overloaded' });
  const answered = visitor.records.filter(({ type, command }) => type === 'response' && command === 'wait_idle');
  expect(answered.filter(({ success }) => success === false)).toHaveLength(44);
});

it('[W72] one token that waits with many clients does not keep others from being heard', async () => {
  const target = await startTarget();
  const host = await target.connect();
  const { sessionId } = await host.location();
  const { token } = await newToken(target.home, { scope: 'view' });
  await host.ok({ type: 'prompt', message: 'stall' });
  const crowd = await Promise.all(Array.from({ length: 10 }, () => target.connect({ token, session: sessionId })));
  await Promise.all(crowd.map((visitor) => visitor.location()));

  for (const visitor of crowd) {
    for (let index = 0; index < 250; index++) visitor.send({ type: 'wait_idle', id: index });
    await visitor.ok({ type: 'ping' }).catch(() => {});
  }
  const late = await target.connect({ session: sessionId });
  await late.location();
  await late.ok({ type: 'abort' });

  const refused = crowd.map(({ records }) => records.filter(({ success }) => success === false).length);
  expect(refused.slice(0, 2)).toEqual([0, 0]);
  expect(refused.slice(3)).toEqual(refused.slice(3).map(() => 251));
});

it('[W73] commands before server_connected wait, in any number that is allowed, and are answered', async () => {
  const target = await startTarget();
  const visitor = await target.connect();

  for (let index = 0; index < 200; index++) visitor.send({ type: 'get_state', id: index });
  await visitor.find(({ type, id }) => type === 'response' && id === 199);

  const [first] = visitor.records;
  expect(first).toMatchObject({ type: 'server_connected' });
  const answers = visitor.records.filter(({ type }) => type === 'response');
  expect(answers.map(({ id, success }) => [id, success])).toEqual(answers.map((_, index) => [index, true]));
});

it('[W72 W73] what waits for a session to begin is counted, too', async () => {
  const { agent, release } = slowAgent();
  const target = await startTarget({ args: ['--agent-command', agent] });
  const visitor = await target.connect();

  for (let index = 0; index < 80; index++) visitor.send({ type: 'prompt', message: 'x'.repeat(4 * MiB) });
  const end = await visitor.ended;
  release();

  expect(end).toEqual({ code: 4429, reason: 'Too many commands' });
});

it('[W71] binary messages are read as the same lines', async () => {
  const target = await startTarget();
  const visitor = await target.connect();

  visitor.send(Buffer.from('{"type":"ping","id":"binary"}\n{"type":"ping","id":"second"}'));

  await visitor.find(({ id }) => id === 'second');
});

it('[W72] whoever pings without reading, or asks without reading, costs bounded memory', async () => {
  const target = await startTarget({ script: [{ steps: [{ text: 'abcdefgh'.repeat(1000), times: 500 }] }] });
  const works = await target.connect();
  const { sessionId } = await works.location();
  await works.run('a long answer');
  const before = memoryOf(target);
  const deaf = async (): Promise<TargetClient> => {
    const visitor = await target.connect({ session: sessionId });
    await visitor.find('state_synced');
    visitor.socket.pause();
    return visitor;
  };

  const asker = await deaf();
  for (let index = 0; index < 250; index++) asker.send({ type: 'get_messages' });
  const pinger = await deaf();
  for (let index = 0; index < 100; index++) {
    await new Promise<void>((resolve) => {
      for (let count = 0; count < 1000; count++) pinger.socket.ping('x'.repeat(125), true, () => {});
      pinger.socket.ping('', true, () => resolve());
    });
  }
  await works.ok({ type: 'get_state' });
  await expect.poll(() => readAll([auditPath(target.home.agentDir)])).toContain('"closeCode":4408');
  asker.socket.resume();

  await asker.ended;
  expect(memoryOf(target) - before).toBeLessThan(400);
});
