import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ids, idsTo, line, linesOf, user, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { SessionLog } from './session-log.ts';

const create = () => SessionLog.create({ directory: tempFolder(), cwd: '/srv/shop' });

describe('copy', () => {
  it('copies the path to an entry, byte for byte, into a new session', async () => {
    const strange = '{ "type":"hologram", "id":"h", "parentId":"a", "n": 12345678901234567890, "timestamp":"t" }\r';
    const source = writeSession(
      join(tempFolder(), 's.jsonl'),
      line('a', null),
      line('x', 'a'),
      strange,
      line('b', 'h'),
    );
    const log = await SessionLog.open(source);
    const directory = join(tempFolder(), 'forks');

    const fork = await log.copy({ leafId: 'b', directory });

    expect(linesOf(fork.path).slice(1)).toEqual([line('a', null), strange, line('b', 'h')]);
    expect(fork.header).toMatchObject({ version: 3, cwd: '/srv/shop', parentSession: source });
    expect(fork.header.id).not.toBe(log.header.id);
    expect(fork.path).toContain(`_${fork.header.id}.jsonl`);
    expect([fork.leafId, idsTo(fork)]).toEqual(['b', ['a', 'h', 'b']]);
    await fork.close();
    await log.close();
    expect(readdirSync(directory)).toEqual([fork.path?.slice(directory.length + 1)]);
  });

  it('leaves two independent sessions, each with its lock', async () => {
    const log = await create();
    const a = log.append(user('a')).id;
    log.append(user('b'));

    const fork = await log.copy({ leafId: a, directory: tempFolder(), cwd: '/elsewhere' });
    fork.append(user('c'));
    log.append(user('d'));

    expect([fork.size, log.size, fork.header.cwd]).toEqual([2, 3, '/elsewhere']);
    await expect(SessionLog.open(fork.path ?? '')).rejects.toMatchObject({ code: 'session_in_use' });
    await log.close();
    await fork.close();
  });

  it('copies only a header for no entry', async () => {
    const log = await create();
    log.append(user('a'));

    const fork = await log.copy({ leafId: null, directory: tempFolder() });

    expect([fork.size, fork.leafId, linesOf(fork.path).length]).toEqual([0, null, 1]);
    await fork.close();
    await log.close();
  });

  it('appends the labels of the kept entries', async () => {
    const log = await create();
    const a = log.append(user('a')).id;
    const l1 = log.append({ type: 'label', targetId: a, label: 'old' });
    const b = log.append(user('b')).id;
    const c = log.append(user('c')).id;
    log.moveLeaf(a);
    const other = log.append(user('other branch')).id;
    log.append({ type: 'label', targetId: other, label: 'not on the path' });
    const l2 = log.append({ type: 'label', targetId: a, label: 'new' });
    log.append({ type: 'label', targetId: c, label: 'gone' });
    const l3 = log.append({ type: 'label', targetId: b, label: 'bee' });
    log.append({ type: 'label', targetId: c });

    const fork = await log.copy({ leafId: c, directory: tempFolder() });

    const [, , , first, second] = fork.entries();
    expect(idsTo(fork)).toEqual([a, b, c, first?.id, second?.id]);
    expect(fork.entry(b)).toEqual({ ...log.entry(b), parentId: a });
    expect(linesOf(fork.path)[3]).toBe(linesOf(log.path)[4]);
    expect(first).toEqual({ ...l2, id: first?.id, parentId: c });
    expect(second).toEqual({ ...l3, id: second?.id, parentId: first?.id });
    expect([l1.id, l2.id, l3.id]).not.toContain(first?.id);
    await fork.close();
    await log.close();
  });

  it('redirects a compaction that kept from a label to the next entry', async () => {
    const log = await create();
    log.append(user('a'));
    const label = log.append({ type: 'label', targetId: log.leafId ?? '', label: 'here' }).id;
    const b = log.append(user('b')).id;
    const compaction = log.append({ type: 'compaction', summary: 's', firstKeptEntryId: label, tokensBefore: 1 }).id;

    const fork = await log.copy({ leafId: compaction, directory: tempFolder() });

    expect(fork.entry(compaction)).toEqual({ ...log.entry(compaction), firstKeptEntryId: b });
    await fork.close();
    await log.close();
  });

  it('omits a root that is a label', async () => {
    const file = writeSession(
      join(tempFolder(), 's.jsonl'),
      '{"type":"label","id":"l","parentId":null,"timestamp":"t","targetId":"nobody","label":"x"}',
      line('a', 'l'),
    );
    const log = await SessionLog.open(file);

    const fork = await log.copy({ leafId: 'a', directory: tempFolder() });

    expect(fork.branch()).toEqual([{ ...log.entry('a'), parentId: null }]);
    await fork.close();
    await log.close();
  });

  it('copies a session in memory into memory', async () => {
    const directory = tempFolder();
    const log = SessionLog.inMemory({ cwd: '/srv/shop' });
    const a = log.append(user('a')).id;
    log.append({ type: 'label', targetId: a, label: 'here' });
    const b = log.append({ type: 'custom', customType: 'c', data: 'ü' }).id;
    log.append(user('later'));

    const fork = await log.copy({ leafId: b, directory });
    fork.append(user('more'));

    expect([fork.path, fork.header.parentSession, readdirSync(directory)]).toEqual([undefined, undefined, []]);
    expect(fork.branch().map(({ type }) => type)).toEqual(['message', 'custom', 'label', 'message']);
    expect(fork.entry(b)).toEqual({ ...log.entry(b), parentId: a });
    expect([log.size, fork.header.cwd]).toEqual([4, '/srv/shop']);
    expect(await log.copy({ leafId: null, directory })).toMatchObject({ size: 0 });
  });

  it('copies a session in a file into memory without a directory', async () => {
    const log = await create();
    const a = log.append(user('ä')).id;

    const fork = await log.copy({ leafId: a, directory: undefined });
    fork.append(user('b'));

    expect([fork.path, fork.header.parentSession, fork.size, log.size]).toEqual([undefined, log.path, 2, 1]);
    expect(fork.entry(a)).toEqual(log.entry(a));
    await fork.close();
    await log.close();
  });

  it('copies more than one block', async () => {
    const log = await create();
    for (let count = 0; count < 40; count++) log.append(user(`${count} ${'ä'.repeat(40_000)}`));
    const cut = ids(log)[20] ?? '';

    const whole = await log.copy({ leafId: log.leafId, directory: tempFolder() });
    const half = await log.copy({ leafId: cut, directory: tempFolder() });

    expect(linesOf(whole.path).slice(1)).toEqual(linesOf(log.path).slice(1));
    expect(linesOf(half.path).slice(1)).toEqual(linesOf(log.path).slice(1, 22));
    await Promise.all([whole.close(), half.close(), log.close()]);
    expect(readFileSync(whole.path ?? '').length).toBeGreaterThan(3_000_000);
  });
});
