import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids, idsTo, line, linesOf, user, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { MAX_ENTRY_BYTES } from './indexing/scan.ts';
import { SessionLog, sessionFileName } from './session-log.ts';

const create = () => SessionLog.create({ directory: join(tempFolder(), 'sessions'), cwd: '/srv/shop' });

describe('create', () => {
  it('has written the header to a private file when it settles', async () => {
    const directory = join(tempFolder(), 'a/b');

    const log = await SessionLog.create({ directory, cwd: '/srv/shop', id: 'my-id', parentSession: '/old.jsonl' });

    expect(log.path).toBe(join(directory, sessionFileName('my-id', new Date(log.header.timestamp))));
    expect(linesOf(log.path)).toEqual([JSON.stringify(log.header)]);
    expect(log.header).toMatchObject({ version: 3, id: 'my-id', cwd: '/srv/shop', parentSession: '/old.jsonl' });
    expect(statSync(log.path ?? '').mode & 0o777).toBe(0o600);
    expect([log.leafId, log.size, log.tornBytes]).toEqual([null, 0, 0]);
    await log.close();
  });

  it('accepts an exact path unless it exists', async () => {
    const directory = tempFolder();
    const path = join(directory, 'mine.jsonl');
    const log = await SessionLog.create({ directory, cwd: '/srv', path });
    log.append(user('hello'));
    await log.close();
    const before = readFileSync(path);

    const again = SessionLog.create({ directory, cwd: '/srv', path });

    await expect(again).rejects.toMatchObject({ code: 'invalid_params', message: `File exists already: ${path}` });
    expect(readFileSync(path)).toEqual(before);
    await (await SessionLog.open(path)).close();
  });

  it('creates UUIDs and rejects ids that lead out of the folder', async () => {
    const log = await create();
    expect(log.header.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    await log.close();

    for (const id of ['../x', 'a/b', 'a.b', '', '.', '-', '-a', 'a_', 'a\n', 'x'.repeat(129)]) {
      await expect(SessionLog.create({ directory: tempFolder(), cwd: '/', id })).rejects.toMatchObject({
        code: 'invalid_params',
      });
    }
  });
});

describe('the tree', () => {
  it('grows below the leaf, which can be moved', async () => {
    const log = await create();
    const [a, b] = [log.append(user('a')).id, log.append(user('b')).id];

    log.moveLeaf(a);
    const c = log.append(user('c')).id;
    log.moveLeaf(null);
    const d = log.append(user('d')).id;

    expect([idsTo(log, b), idsTo(log, c), idsTo(log), idsTo(log, null)]).toEqual([[a, b], [a, c], [d], []]);
    expect([log.leafId, log.size, log.has(b), log.has('nope')]).toEqual([d, 4, true, false]);
    expect(log.branch(c).map(({ id }) => id)).toEqual([a, c]);
    expect(log.entry(c)).toMatchObject({ id: c, parentId: a });
    expect(log.entry('nope')).toBeUndefined();
    await log.close();
  });

  it('restores a stored leaf', async () => {
    const log = await create();
    const [a, b] = [log.append(user('a')).id, log.append(user('b')).id];
    const isAtEnd = [log.isAtEnd];

    const mark = log.storeLeaf(a);

    isAtEnd.push(log.isAtEnd);
    expect([log.leafId, idsTo(log), isAtEnd]).toEqual([a, [a], [true, false]]);
    expect(mark).toMatchObject({ type: 'custom', customType: 'tau:leaf', parentId: a });
    await log.close();
    const again = await SessionLog.open(log.path ?? '');
    expect([again.leafId, again.size]).toEqual([a, 3]);
    const c = again.append(user('c')).id;
    again.storeLeaf(null);
    expect([again.leafId, idsTo(again, b), idsTo(again, c)]).toEqual([null, [a, b], [a, c]]);
    await again.close();
    const last = await SessionLog.open(log.path ?? '');
    expect([last.leafId, idsTo(last)]).toEqual([null, []]);
    expect(last.append(user('d')).parentId).toBe(null);
    const leaf = last.leafId;
    await last.close();
    expect(() => last.storeLeaf(a)).toThrow('is closed');
    expect(last.leafId).toBe(leaf);
  });

  it('continues below an entry that another program appended to a leaf mark', async () => {
    const file = join(tempFolder(), 's.jsonl');
    const mark = '{"type":"custom","customType":"tau:leaf","id":"m","parentId":"a","timestamp":"t"}';
    const log = await SessionLog.open(writeSession(file, line('a', null), line('b', 'a'), mark, line('c', 'm')));

    expect(idsTo(log)).toEqual(['a', 'm', 'c']);
    await log.close();
  });

  it('accepts an entry below another entry than the leaf and makes it the leaf', async () => {
    const log = await create();
    const [a, b] = [log.append(user('a')).id, log.append(user('b')).id];

    const c = log.append(user('c'), a).id;

    expect([idsTo(log), idsTo(log, b)]).toEqual([
      [a, c],
      [a, b],
    ]);
    await log.close();
  });

  it('lists the entries of a kind on every branch, latest first', async () => {
    const log = await create();
    const named = (name: string) => log.append({ type: 'session_info', name }).id;
    const a = log.append(user('a')).id;
    const [b, c] = [named('b'), named('c')];
    log.storeLeaf(a);
    const d = named('d');
    log.storeLeaf(a);

    expect([...log.allNodesOfKind('session_info')].map(({ id }) => id)).toEqual([d, c, b]);
    expect([...log.nodesOfKind('session_info'), ...log.allNodesOfKind('label')]).toEqual([]);
    await log.close();
  });

  it('returns the parent of an entry without reading it', async () => {
    const file = join(tempFolder(), 's.jsonl');
    const log = await SessionLog.open(
      writeSession(file, line('a', 'c'), line('c', 'a'), line('d', 'a'), line('x', 'gone')),
    );

    expect(log.parentOf('d')).toBe('a');
    expect(log.parentOf('x')).toBeNull();
    expect([log.parentOf('a'), log.parentOf('c')]).toEqual([null, 'a']);
    expect(() => log.parentOf('nope')).toThrow(expect.objectContaining({ code: 'not_found' }));
    await log.close();
  });

  it('rejects unknown entry ids', async () => {
    const log = await create();
    const a = log.append(user('a')).id;
    const refusal = expect.objectContaining({ code: 'not_found', message: 'Entry not found: nope' });

    expect(() => log.moveLeaf('nope')).toThrow(refusal);
    expect(() => log.storeLeaf('nope')).toThrow(refusal);
    expect(() => log.append(user('b'), 'nope')).toThrow(refusal);
    expect(() => log.nodes('nope')).toThrow(refusal);
    expect(() => log.branch('nope')).toThrow(refusal);
    expect(() => log.entries({ after: 'nope' })).toThrow(refusal);
    await expect(log.copy({ leafId: 'nope', directory: tempFolder() })).rejects.toEqual(refusal);
    expect([log.leafId, log.size]).toEqual([a, 1]);
    await log.close();
  });

  it('pages through the entries in file order', async () => {
    const log = await create();
    const all = ['a', 'b', 'c', 'd'].map((text) => log.append(user(text)).id);
    const page = (options: { after?: string; limit?: number }) => log.entries(options).map(({ id }) => id);

    expect(page({})).toEqual(all);
    expect(page({ limit: 2 })).toEqual(all.slice(0, 2));
    expect(page({ after: all[1] ?? '' })).toEqual(all.slice(2));
    expect(page({ after: all[1] ?? '', limit: 1 })).toEqual(all.slice(2, 3));
    expect(page({ after: all[3] ?? '' })).toEqual([]);
    expect(page({ limit: 0 })).toEqual([]);
    await log.close();
  });

  it.each(['in memory', 'in a file'])('finds entries %s by the text of their lines', async (where) => {
    const log = where === 'in memory' ? SessionLog.inMemory({ cwd: '/srv/shop' }) : await create();
    const big = 'ä'.repeat(700_000);
    const [a, b] = [log.append(user(`needle needle ${big}`)).id, log.append(user(`${big} no`)).id];
    const c = log.append(user(`${big}needle`)).id;
    const find = (text: string) => [...log.find(text)].map(({ id }) => id);

    expect(find('needle')).toEqual([a, c]);
    expect(find(`"id":"${b}"`)).toEqual([b]);
    expect(find('ä no')).toEqual([b]);
    expect(find(big)).toEqual([a, b, c]);
    expect(find('/srv/shop')).toEqual([]);
    expect(find('')).toEqual([]);
    await log.close();
  });

  it('finds text across the block borders of the search', async () => {
    const log = await create();
    const block = 1024 * 1024;
    for (let shift = -12; shift < 12; shift++) {
      const start = statSync(log.path ?? '').size;
      const entry = log.append(
        user(`${'.'.repeat(block - (start % block) - 160 + shift)}<mark ${shift}>${'.'.repeat(50)}`),
      );
      expect([...log.find(`<mark ${shift}>`)].map(({ id }) => id)).toEqual([entry.id]);
    }
    await log.close();
  });
});

it('an entry longer than the limit is rejected and changes nothing', async () => {
  const log = await create();
  const a = log.append(user('a')).id;
  const huge = user('x'.repeat(MAX_ENTRY_BYTES));

  expect(() => log.append(huge)).toThrow(expect.objectContaining({ code: 'invalid_params' }));

  expect([log.leafId, log.size, linesOf(log.path).length]).toEqual([a, 1, 2]);
  await log.close();
});

describe('a session in memory', () => {
  it('behaves like one in a file', async () => {
    const log = SessionLog.inMemory({ cwd: '/srv/shop', id: 'm' });
    const a = log.append(user('ü'.repeat(5000))).id;
    const b = log.append({ type: 'custom', customType: 'c', data: 1 }).id;
    await log.sync();

    expect([log.path, log.header.id, log.leafId, log.size]).toEqual([undefined, 'm', b, 2]);
    expect(idsTo(log)).toEqual([a, b]);
    expect(log.branch()).toEqual([log.entry(a), log.entry(b)]);
    await log.close();
  });
});

describe('close', () => {
  it('removes a session without messages', async () => {
    const log = await create();
    log.append({ type: 'model_change', provider: 'mock', modelId: 'm1' });
    const folder = join(log.path ?? '', '..');

    await Promise.all([log.close(), log.close()]);
    await log.close();

    expect(readdirSync(folder)).toEqual([]);
  });

  it('keeps a session with a message and releases its lock', async () => {
    const log = await create();
    log.append(user('hello'));

    await log.close();

    const again = await SessionLog.open(log.path ?? '');
    expect(again.size).toBe(1);
    await again.close();
    await (await SessionLog.open(log.path ?? '')).close();
  });

  it('keeps an empty session with keepEmpty', async () => {
    const log = await create();

    await log.close({ keepEmpty: true });

    const again = await SessionLog.open(log.path ?? '');
    expect(again.header).toEqual(log.header);
    await again.close();
    expect(existsSync(log.path ?? '')).toBe(false);
  });

  it('releases the lock even when the file cannot be removed', async () => {
    const log = await create();
    const file = log.path ?? '';
    rmSync(file);
    mkdirSync(file);

    await expect(log.close()).rejects.toThrow(file);

    rmSync(file, { recursive: true });
    writeSession(file, line('a', null));
    await (await SessionLog.open(file)).close();
  });

  it('never removes a file with unknown lines', async () => {
    const file = writeSession(join(tempFolder(), 's.jsonl'), '{"type":"message","id":"a","message":{"role":"us');

    await (await SessionLog.open(file)).close();

    expect(existsSync(file)).toBe(true);
  });

  it('rejects later appends', async () => {
    const log = await create();
    log.append(user('hello'));
    await log.close();

    expect(() => log.append(user('late'))).toThrow('is closed');
    expect(linesOf(log.path)).toHaveLength(2);
  });
});

describe('open with create', () => {
  it.each(['missing', 'empty'])('creates a file that is %s', async (state) => {
    const file = join(tempFolder(), 'new.jsonl');
    if (state === 'empty') writeFileSync(file, '');

    const log = await SessionLog.open(file, { create: { cwd: '/srv/shop', id: 'given' } });

    expect([log.header.id, log.header.cwd, basename(log.path ?? '')]).toEqual(['given', '/srv/shop', 'new.jsonl']);
    log.append(user('x'));
    await log.close();
    expect(linesOf(file)).toHaveLength(2);
  });

  it('opens a file that holds a session', async () => {
    const file = writeSession(join(tempFolder(), 's.jsonl'), line('a', null));

    const log = await SessionLog.open(file, { create: { cwd: '/other' } });

    expect([log.header.cwd, ids(log)]).toEqual(['/srv/shop', ['a']]);
    await log.close();
  });

  it('does not create folders', async () => {
    const file = join(tempFolder(), 'no/new.jsonl');

    await expect(SessionLog.open(file, { create: { cwd: '/' } })).rejects.toMatchObject({
      code: 'session_not_found',
      message: `Session not found: ${file}`,
    });
    mkdirSync(join(file, '..'));
    await (await SessionLog.open(file, { create: { cwd: '/' } })).close();
  });
});
