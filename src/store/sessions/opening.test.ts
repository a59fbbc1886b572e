import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HEADER, ids, idsTo, line, linesOf, user, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { SessionLog } from './session-log.ts';

const file = () => join(tempFolder(), 's.jsonl');

describe('a file that is not a session', () => {
  const corpus: Record<string, string | Buffer> = {
    'an empty file': '',
    'a line feed': '\n',
    prose: 'Dear diary,\nnothing happened.\n',
    binary: Buffer.from(Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256)),
    zeros: Buffer.alloc(2 * 1024 * 1024),
    'a list': '[{"type":"session","id":"x"}]\n',
    null: 'null\n',
    'another object': '{"type":"message","id":"x"}\n',
    'a header without id': '{"type":"session","version":3,"cwd":"/"}\n',
    'a header whose id is a number': '{"type":"session","version":3,"id":7,"cwd":"/"}\n',
    'half a header': HEADER.slice(0, 60),
    'a header in the second line': `\n${HEADER}\n`,
    'a header that does not end': `${HEADER.slice(0, -1)},"x":"${'x'.repeat(70_000)}"}\n`,
    'package.json': '{\n  "type": "session",\n  "id": "x"\n}\n',
  };

  it.each(Object.keys(corpus))('is rejected and left unchanged: %s', async (name) => {
    const target = file();
    writeFileSync(target, corpus[name] ?? '');
    const snapshot = () => [readFileSync(target, 'latin1'), statSync(target).mtimeMs];
    const before = snapshot();

    for (let time = 0; time < 2; time++) {
      await expect(SessionLog.open(target)).rejects.toMatchObject({
        code: 'not_a_session',
        message: `Not a session file: ${target}`,
      });
    }

    expect(snapshot()).toEqual(before);
  });

  it('is rejected also with create', async () => {
    const target = file();
    writeFileSync(target, 'prose');

    await expect(SessionLog.open(target, { create: { cwd: '/' } })).rejects.toMatchObject({ code: 'not_a_session' });
    expect(readFileSync(target, 'utf8')).toBe('prose');
  });

  it('is rejected if it is a folder, a pipe, a link loop or unreadable', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'folder'));
    execFileSync('/usr/bin/mkfifo', [join(folder, 'pipe')]);
    symlinkSync('loop', join(folder, 'loop'));
    const strange = ['folder', 'pipe', 'loop'].map((name) => join(folder, name));
    if (process.platform === 'linux') strange.push('/proc/self/mem');

    for (const target of strange) {
      await expect(SessionLog.open(target)).rejects.toMatchObject({ code: 'not_a_session' });
    }
  });

  it('is reported as not found if it is missing', async () => {
    const target = file();

    for (const missing of [target, join(target, 'deeper'), '/no/such/folder/x.jsonl']) {
      await expect(SessionLog.open(missing)).rejects.toMatchObject({
        code: 'session_not_found',
        message: `Session not found: ${missing}`,
      });
    }
  });
});

describe('files of other programs', () => {
  it('may have any field order', async () => {
    const target = writeSession(
      file(),
      '{"id":"a","type":"message","message":{"content":"x","role":"user"},"timestamp":"t","parentId":null}',
      '{"timestamp":"t","parentId":"a","id":"b","message":{"role":"assistant"},"type":"message"}',
      '{ "type": "message", "id": "c", "parentId": "b", "message": { "role": "toolResult" } }',
      '{"type":"message","id":"d","parentId":"c","timestamp":"t","message":{"content":"\\"role\\":\\"x\\"","role":"user"}}',
      '{"type":"custom","id":"e","parentId":"d","timestamp":"t","customType":"ct","data":{"id":"z"}}',
      '{"type":"custom","id":"f","data":1,"customType":"ct","parentId":"e"}',
      '{"type":"\\u006dessage","id":"g","parentId":"f","timestamp":"t","message":{"role":"user"}}',
      `{"type":"message","id":"h","parentId":"g","timestamp":"t","clientMessageId":"${'x'.repeat(500)}","message":{"role":"user"}}`,
    );

    const log = await SessionLog.open(target);

    expect(idsTo(log)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']);
    expect([...log.nodes()].map(({ role, customType }) => role ?? customType).reverse()).toEqual([
      'user',
      'assistant',
      'toolResult',
      'user',
      'ct',
      'ct',
      'user',
      'user',
    ]);
    expect(log.branch().map(({ id }) => id)).toEqual(idsTo(log));
    await log.close();
  });

  it('may have CRLF, blank lines and unknown lines, which stay unchanged', async () => {
    const target = file();
    const text = [HEADER, line('a', null), '', 'garbage', '{"type":"x"}', '[]', line('b', 'a'), HEADER, line('c', 'b')]
      .map((each) => `${each}\r\n`)
      .join('');
    writeFileSync(target, text);

    const log = await SessionLog.open(target);
    const added = log.append(user('d'));

    expect(idsTo(log)).toEqual(['a', 'b', 'c', added.id]);
    expect(log.entry('b')).toEqual(JSON.parse(line('b', 'a')));
    expect(log.branch()).toHaveLength(4);
    await log.close();
    expect(readFileSync(target, 'utf8')).toBe(`${text}${JSON.stringify(added)}\n`);
  });

  it('keep unknown types and fields', async () => {
    const strange = '{"type":"hologram","id":"h","parentId":null,"timestamp":"t","beam":{"x":1e2}}';
    const target = writeSession(file(), strange, line('a', 'h').replace('"message":', '"mood":"good","message":'));

    const log = await SessionLog.open(target);

    expect(log.entry('h')).toEqual(JSON.parse(strange));
    expect(log.entry('a')).toMatchObject({ mood: 'good' });
    expect([...log.nodes()].map(({ type, role }) => [type, role])).toEqual([
      ['message', 'user'],
      ['hologram', undefined],
    ]);
    await log.close();
    expect(linesOf(target)[1]).toBe(strange);
  });

  it('may have entries whose parent follows or is missing', async () => {
    const target = writeSession(file(), line('c', 'b'), line('b', 'a'), line('x', 'gone'), line('a', null));

    const log = await SessionLog.open(target);

    expect([idsTo(log, 'c'), idsTo(log, 'x'), log.leafId]).toEqual([['a', 'b', 'c'], ['x'], 'a']);
    expect([...log.nodes('x')][0]?.parentId).toBeNull();
    expect(ids(log)).toEqual(['c', 'b', 'x', 'a']);
    expect(log.branch('c').map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    await log.close();
  });

  it('may have cycles, which are cut', async () => {
    const target = writeSession(file(), line('s', 's'), line('a', 'c'), line('b', 'a'), line('c', 'b'), line('d', 'c'));

    const log = await SessionLog.open(target);

    expect(idsTo(log, 's')).toEqual(['s']);
    expect(idsTo(log, 'd')).toEqual(['a', 'b', 'c', 'd']);
    await log.close();
  });

  it('keep the first of two entries with the same id', async () => {
    const target = writeSession(file(), line('a', null, 'first'), line('b', 'a'), line('a', 'b', 'second'));

    const log = await SessionLog.open(target);

    expect(log.entry('a')).toEqual(JSON.parse(line('a', null, 'first')));
    expect([ids(log), log.leafId, log.size]).toEqual([['a', 'b'], 'a', 2]);
    expect([...log.find('second')]).toEqual([]);
    await log.close();
  });

  it('may have a partial line in the middle, which is skipped', async () => {
    const half = line('b', 'a').slice(0, -20);
    const target = writeSession(file(), line('a', null), half, line('c', 'a'), line('d', 'b'));

    const log = await SessionLog.open(target);

    expect([log.has('b'), idsTo(log, 'c'), idsTo(log, 'd')]).toEqual([false, ['a', 'c'], ['d']]);
    await log.close();
    expect(linesOf(target)[2]).toBe(half);
  });

  it('may have a line that only looks complete, which is read as absent', async () => {
    const glued = `${line('b', 'a').slice(0, -30)}${line('x', 'b')}`;
    const target = writeSession(file(), line('a', null), glued, line('c', 'b'));

    const log = await SessionLog.open(target);

    expect([log.entry('b'), log.has('x'), idsTo(log)]).toEqual([undefined, false, ['a', 'b', 'c']]);
    expect(log.branch().map(({ id }) => id)).toEqual(['a', 'c']);
    expect(ids(log)).toEqual(['a', 'c']);
    await log.close();
  });

  it('may have a header with missing fields', async () => {
    const target = file();
    writeFileSync(target, `{"id":"x","type":"session","version":3,"mood":"good"}\n${line('a', null)}\n`);

    const log = await SessionLog.open(target);

    expect(log.header).toEqual({ type: 'session', version: 3, id: 'x', cwd: '', timestamp: '', mood: 'good' });
    await log.close();
  });

  it('may have lines longer than a block, in any field order', async () => {
    const long = 'é'.repeat(3_000_000);
    const custom = `{"type":"custom","customType":"ct","data":"${long}","id":"b","parentId":"a","timestamp":"t"}`;
    const foreign = `{"id":"c","message":{"content":"${long}","role":"user"},"parentId":"b","type":"message"}`;
    const target = writeSession(
      file(),
      line('a', null, long),
      custom,
      foreign,
      `${line('d', 'c', long)}\r`,
      line('e', 'd'),
    );

    const log = await SessionLog.open(target);

    expect(idsTo(log)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(log.entry('b')).toEqual(JSON.parse(custom));
    expect(log.branch()).toHaveLength(5);
    await log.close();
  });

  it('may have a line longer than the limit, which is skipped', async () => {
    const target = writeSession(file(), line('a', null), line('huge', 'a').slice(0, -1));
    truncateSync(target, statSync(target).size + 257 * 1024 * 1024);
    appendFileSync(target, `}\n${line('b', 'a')}\n`);

    const log = await SessionLog.open(target);

    expect([ids(log), idsTo(log)]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    await log.close();
  });

  it('are opened through a symlink and written at its target', async () => {
    const target = writeSession(file(), line('a', null));
    const link = join(tempFolder(), 'link.jsonl');
    symlinkSync(target, link);

    const log = await SessionLog.open(link);
    const other = SessionLog.open(target);

    await expect(other).rejects.toMatchObject({ code: 'session_in_use', holder: process.pid });
    log.append(user('b'));
    await log.close();
    expect(linesOf(target)).toHaveLength(3);
  });
});

describe('a torn last line', () => {
  it('is cut off, or completed when only the line feed is missing', async () => {
    const target = file();
    const whole = `${HEADER}\n${line('a', null, 'ä')}\n${line('b', 'a', '𝄞')}\n`;
    const bytes = Buffer.from(whole);
    const lineEnds = [...bytes.keys()].filter((index) => bytes[index] === 0x0a);
    const headerEnd = lineEnds[0] ?? 0;

    for (let cut = headerEnd; cut <= bytes.length; cut++) {
      writeFileSync(target, bytes.subarray(0, cut));
      const wholeLines = lineEnds.filter((end) => end <= cut).length;
      const keptBytes = lineEnds[wholeLines - 1] ?? 0;

      const log = await SessionLog.open(target);

      expect(ids(log)).toEqual(['a', 'b'].slice(0, wholeLines - 1));
      expect(log.tornBytes).toBe(Math.max(0, cut - keptBytes - 1));
      expect(readFileSync(target).equals(bytes.subarray(0, keptBytes + 1))).toBe(true);
      await log.close();
    }

    for (let cut = 1; cut < headerEnd; cut += 7) {
      writeFileSync(target, bytes.subarray(0, cut));
      await expect(SessionLog.open(target)).rejects.toMatchObject({ code: 'not_a_session' });
      expect(readFileSync(target).equals(bytes.subarray(0, cut))).toBe(true);
    }
  });

  it('is never joined with the next entry', async () => {
    const target = writeSession(file(), line('a', null));
    appendFileSync(target, '{"type":"message","id":"b","par');

    const log = await SessionLog.open(target);
    const next = log.append(user('next'));

    expect(next.parentId).toBe('a');
    await log.close();
    expect(linesOf(target)).toEqual([HEADER, line('a', null), JSON.stringify(next)]);
  });
});
