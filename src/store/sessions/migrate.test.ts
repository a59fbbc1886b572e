import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { idsTo, linesOf, user } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { SessionLog } from './session-log.ts';
import { storedUsage } from './stored-usage.ts';

function write(...lines: string[]): string {
  const file = join(tempFolder(), 'old.jsonl');
  writeFileSync(file, lines.join('\n'));
  return file;
}

describe('version 1', () => {
  const lines = [
    '{"type":"session","id":"old","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/srv/shop","provider":"mock"}',
    '{"type":"message","timestamp":"t1","message":{"role":"user","content":"one","timestamp":1}}',
    'broken {',
    '{"type":"message","timestamp":"t2","message":{"role":"hookMessage","customType":"x","content":"two"}}',
    '{"type":"message","timestamp":"t3","message":{"role":"assistant","content":[]}}',
    '{"type":"compaction","timestamp":"t4","summary":"s","firstKeptEntryIndex":2,"tokensBefore":9}',
    '{"type":"model_change","timestamp":"t5","provider":"mock","modelId":"m"}',
    '',
  ];

  it('gets ids, parents and the current names once', async () => {
    const file = write(...lines);
    chmodSync(file, 0o640);

    const log = await SessionLog.open(file);

    const entries = log.branch();
    const [one, two, three, four, five] = entries.map(({ id }) => id);
    expect(log.header).toEqual({ ...JSON.parse(lines[0] ?? ''), version: 3 });
    expect(entries).toEqual([
      {
        type: 'message',
        id: one,
        parentId: null,
        timestamp: 't1',
        message: { role: 'user', content: 'one', timestamp: 1 },
      },
      {
        type: 'message',
        id: two,
        parentId: one,
        timestamp: 't2',
        message: { role: 'custom', customType: 'x', content: 'two' },
      },
      {
        type: 'message',
        id: three,
        parentId: two,
        timestamp: 't3',
        message: { role: 'assistant', content: [], usage: storedUsage(undefined) },
      },
      {
        type: 'compaction',
        id: four,
        parentId: three,
        timestamp: 't4',
        summary: 's',
        tokensBefore: 9,
        firstKeptEntryId: two,
      },
      { type: 'model_change', id: five, parentId: four, timestamp: 't5', provider: 'mock', modelId: 'm' },
    ]);
    expect(new Set([one, two, three, four, five]).size).toBe(5);
    await log.close();

    const migrated = readFileSync(file, 'utf8');
    expect(linesOf(file)[0]).toBe(
      '{"type":"session","version":3,"id":"old","timestamp":"2025-11-20T10:00:00.000Z","cwd":"/srv/shop","provider":"mock"}',
    );
    expect(linesOf(file)[2]).toBe('broken {');
    expect(linesOf(file)[1]).toBe(
      `{"type":"message","id":"${one}","parentId":null,"timestamp":"t1","message":{"role":"user","content":"one","timestamp":1}}`,
    );
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(dirname(file))).toEqual(['old.jsonl']);

    const again = await SessionLog.open(file);
    again.append(user('next'));
    await again.close();
    expect(readFileSync(file, 'utf8').startsWith(migrated)).toBe(true);
  });

  it('is migrated even if its last line is torn', async () => {
    const file = write(...lines.slice(0, 2), '{"type":"message","timest');

    const log = await SessionLog.open(file);

    expect([log.size, log.tornBytes]).toEqual([1, 25]);
    await log.close();
    expect(linesOf(file)).toHaveLength(2);
  });

  it('keeps the tree of entries that have ids', async () => {
    const file = write(
      '{"type":"session","id":"old","timestamp":"t","cwd":"/"}',
      '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"user"}}',
      '{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"user"}}',
      '{"type":"message","id":"c","parentId":"a","timestamp":"t","message":{"role":"user"}}',
      '',
    );

    const log = await SessionLog.open(file);

    expect([idsTo(log, 'b'), idsTo(log, 'c')]).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
    await log.close();
  });
});

describe('version 2', () => {
  it('gets the current names; all other lines stay unchanged', async () => {
    const file = write(
      '{"type":"session","version":2,"id":"old","timestamp":"t","cwd":"/srv/shop"}',
      '{"type":"message","id":"a","parentId":null, "timestamp":"t","message":{"role":"user","content":"a \\"session\\" with a hookMessage"}}',
      '{"type":"message","id":"b","parentId":"a","timestamp":"t","message":{"role":"hookMessage","content":"x"}}',
      '{"type":"message","id":"c","parentId":"b","timestamp":"t","message":{"role":"user","content":["hookMessage"]}}',
      '',
    );
    const before = linesOf(file);

    const log = await SessionLog.open(file);

    expect(log.header.version).toBe(3);
    expect([...log.nodes()].map(({ role }) => role)).toEqual(['user', 'custom', 'user']);
    await log.close();
    const after = linesOf(file);
    expect([after[1], after[3]]).toEqual([before[1], before[3]]);
    expect(after[2]).toBe(before[2]?.replace('"role":"hookMessage"', '"role":"custom"'));
  });
});

it('unknown versions are left unchanged', async () => {
  const file = write(
    '{"type":"session","version":9,"id":"new","timestamp":"t","cwd":"/"}',
    '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"hookMessage"}}',
    '',
  );
  const before = readFileSync(file, 'utf8');

  const log = await SessionLog.open(file);

  expect([log.header.version, log.size]).toEqual([9, 1]);
  await log.close();
  expect(readFileSync(file, 'utf8')).toBe(before);
});
