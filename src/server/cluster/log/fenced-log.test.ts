import { expect, it } from 'vitest';
import { startNatsServer } from '../../../../test/support/cluster/nats-server.ts';
import { testCluster } from '../../../../test/support/cluster/test-cluster.ts';
import { connectCluster } from '../connection.ts';
import { LOG_STREAM, logSubject } from '../names.ts';
import { createLogStream } from '../setup.ts';
import { FencedLog } from './fenced-log.ts';
import { headersOf, RecordJoiner } from './log-record.ts';

const cluster = testCluster();

let sessions = 0;
const newId = () => `session-${++sessions}`;
const logOf = (sessionId: string, name = 'a') =>
  new FencedLog(cluster.connection, sessionId, { name, incarnation: `${name}-1` });
const bytes = (text: string) => new TextEncoder().encode(text);

async function owned(sessionId: string, name = 'a'): Promise<FencedLog> {
  const log = logOf(sessionId, name);
  expect(await log.claim(await log.readLast())).toBe(true);
  return log;
}

async function textsOf(log: FencedLog): Promise<string[]> {
  const joiner = new RecordJoiner();
  const texts: string[] = [];
  const last = await log.readLast();
  for await (const message of log.read(0, last?.seq ?? 0)) {
    const record = joiner.add(message);
    if (record?.kind === 'entries') texts.push(new TextDecoder().decode(record.data));
  }
  return texts;
}

it('a claim of a session that its owner has purged meanwhile is tried again, not refused', async () => {
  const [owner, next] = [logOf('purged', 'a'), logOf('purged', 'b')];
  await owner.claim(undefined);
  const last = await next.readLast();
  await owner.purge();

  expect(await next.claim(last)).toBe(false);
  expect(await next.claim(await next.readLast())).toBe(true);
});

it('[W142] of two claims behind the same record one wins', async () => {
  const id = newId();
  const logs = ['a', 'b', 'c', 'd'].map((name) => logOf(id, name));

  const won = await Promise.all(logs.map((log) => log.claim(undefined)));

  expect(won.filter(Boolean)).toHaveLength(1);
});

it('records are appended in the order of their calls and read back', async () => {
  const log = await owned(newId());

  await Promise.all(['one', 'two', 'three'].map((text) => log.append('entries', bytes(text))));

  expect(await textsOf(log)).toEqual(['one', 'two', 'three']);
});

it('[W142] an owner cannot append after another one has claimed the log', async () => {
  const id = newId();
  const first = await owned(id, 'a');
  await first.append('entries', bytes('kept'));
  const second = await owned(id, 'b');

  await expect(first.append('entries', bytes('lost'))).rejects.toThrow('The session is owned elsewhere');
  await second.append('entries', bytes('next'));
  await expect(first.append('entries', bytes('lost too'))).rejects.toThrow('The session is owned elsewhere');

  expect(await textsOf(second)).toEqual(['kept', 'next']);
});

it('[W160] nothing is appended to a log that lost records, which is reported once', async () => {
  const id = newId();
  const regressed: string[] = [];
  const observer = { onRegressed: (sessionId: string) => void regressed.push(sessionId) };
  const log = new FencedLog(cluster.connection, id, { name: 'a', incarnation: 'a-1' }, { observer });
  await log.claim(undefined);
  await log.append('entries', bytes('lost'));
  await cluster.connection.manager.streams.purge(LOG_STREAM, { filter: logSubject(id) });

  const message = `The log of session ${id} ends before records that it acknowledged`;
  await expect(log.append('entries', bytes('next'))).rejects.toThrow(message);
  await expect(log.append('release', bytes(''))).rejects.toThrow(message);

  expect(regressed).toEqual([id]);
  expect(await log.readLast()).toBeUndefined();
});

it('a long record is stored in pieces and read as one', async () => {
  const log = await owned(newId());
  const long = 'x'.repeat(3_000_000);

  await log.append('entries', bytes(long));
  await log.append('entries', bytes('short'));

  expect(await textsOf(log)).toEqual([long, 'short']);
});

it('the pieces of a record without its last one count as never written', async () => {
  const id = newId();
  const first = await owned(id, 'a');
  const writer = { name: 'a', incarnation: 'a-1' };
  const part = { index: 1, count: 2 };
  const headers = headersOf({ kind: 'entries', writer, token: first.token, batch: 1_000_000, part });
  await cluster.connection.js.publish(logSubject(id), bytes('half'), { headers });
  const second = await owned(id, 'b');
  await second.append('entries', bytes('next'));

  expect(await textsOf(second)).toEqual(['next']);
});

it('[W142] while the server is away an append waits, and is stored once when it is back', async () => {
  const away = await startNatsServer();
  const folder = away.storeDir;
  const connection = await connectCluster({ servers: [away.url], name: 'test' });
  await createLogStream(connection, { replicas: 1, maxBytes: 1024 * 1024 });
  const log = new FencedLog(connection, 'waits', { name: 'a', incarnation: '1' });
  await log.claim(undefined);
  await away.stop('SIGKILL');

  const appended = log.append('entries', bytes('later'));
  const back = await startNatsServer({ port: Number(new URL(away.url).port), storeDir: folder });

  await appended;
  expect(await textsOf(log)).toEqual(['later']);
  await connection.nats.close();
  await back.stop();
});

it('a full log refuses records and keeps the old ones', async () => {
  const small = await startNatsServer();
  const connection = await connectCluster({ servers: [small.url], name: 'test' });
  await createLogStream(connection, { replicas: 1, maxBytes: 20_000 });
  const log = new FencedLog(connection, 'full', { name: 'a', incarnation: '1' });
  await log.claim(undefined);
  await log.append('entries', bytes('first'));

  await expect(log.append('entries', crypto.getRandomValues(new Uint8Array(40_000)))).rejects.toThrow(
    'The log refuses a record',
  );

  expect(await textsOf(log)).toEqual(['first']);
  await connection.nats.close();
  await small.stop();
});

it('[W142] a purge that arrives late leaves the records of the next owner', async () => {
  const id = newId();
  const first = await owned(id, 'a');
  const second = await owned(id, 'b');
  await second.append('entries', bytes('kept'));

  await first.purge();

  expect(await textsOf(second)).toEqual(['kept']);
  await second.append('entries', bytes('next'));
  expect(await textsOf(second)).toEqual(['kept', 'next']);
});
