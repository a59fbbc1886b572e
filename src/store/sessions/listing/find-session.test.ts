import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sessionDirFor } from '../../agent-dir.ts';
import { line } from '../../testing/sample-session.ts';
import { tempFolder } from '../../testing/temp-folder.ts';
import { findSessionById, findSessions, latestSession } from './find-session.ts';

interface Sample {
  readonly id: string;
  readonly at: number;
  readonly text?: string;
}

function write(directory: string, { id, at, text = `${line('a', null)}\n` }: Sample): string {
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `x_${id}.jsonl`);
  writeFileSync(path, `{"type":"session","version":3,"id":"${id}","timestamp":"t","cwd":"/"}\n${text}`);
  utimesSync(path, at, at);
  return path;
}

describe('latestSession', () => {
  it('is the session written last', () => {
    const directory = tempFolder();
    write(directory, { id: 'a', at: 100 });
    const newest = write(directory, { id: 'b', at: 300 });
    write(directory, { id: 'c', at: 200 });

    expect(latestSession(directory, '/')).toBe(newest);
  });

  it('skips files without a message or header, and anything that is not a file', () => {
    const directory = tempFolder();
    const good = write(directory, {
      id: 'good',
      at: 100,
      text: `garbage\n{"type":"custom","customType":"c","data":"x","id":"c","parentId":null,"timestamp":"t"}\n${line('a', 'c')}\n`,
    });
    write(directory, { id: 'silent', at: 200, text: '' });
    write(directory, {
      id: 'quoting',
      at: 210,
      text: '{"type":"custom","id":"c","data":{"type":"message","id":"d"}}\n',
    });
    writeFileSync(join(directory, 'foreign.jsonl'), `${line('a', null)}\n`);
    writeFileSync(join(directory, 'empty.jsonl'), '');
    writeFileSync(join(directory, 'notes.txt'), '');
    mkdirSync(join(directory, 'folder.jsonl'));
    symlinkSync('loop.jsonl', join(directory, 'loop.jsonl'));

    expect(latestSession(directory, '/')).toBe(good);
  });

  it('is a session of the working directory, even if others share the folder', () => {
    const directory = tempFolder();
    const own = write(directory, { id: 'own', at: 100 });
    const other = join(directory, 'other.jsonl');
    writeFileSync(other, `{"type":"session","version":3,"id":"other","cwd":"/other"}\n${line('a', null)}\n`);

    expect([latestSession(directory, '/'), latestSession(directory, '/other')]).toEqual([own, other]);
    expect(latestSession(directory, '/third')).toBeUndefined();
  });

  it('is undefined in an empty or missing folder', () => {
    expect(latestSession(tempFolder(), '/')).toBeUndefined();
    expect(latestSession('/no/such/folder', '/')).toBeUndefined();
  });
});

describe('findSessions', () => {
  it('searches this project first, then all, newest first', () => {
    const root = tempFolder();
    const here = sessionDirFor(root, '/srv/shop');
    const there = sessionDirFor(root, '/srv/other');
    const old = write(here, { id: 'abc1', at: 100 });
    const own = write(here, { id: 'abc2', at: 200 });
    const foreign = write(there, { id: 'abd3', at: 300 });
    const exact = write(there, { id: 'abd', at: 50 });
    const find = (idPrefix: string) => findSessions({ root, sessionDirectory: here, idPrefix })[0];

    expect(find('ab')).toBe(own);
    expect(find('abc1')).toBe(old);
    expect(find('abd3')).toBe(foreign);
    expect(find('abd')).toBe(exact);
    expect(find('zzz')).toBeUndefined();
    expect(find('')).toBeUndefined();
  });

  it('searches a chosen folder alone', () => {
    const root = tempFolder();
    const sessionDirectory = join(root, 'mine');
    const mine = write(sessionDirectory, { id: 'abc', at: 1 });
    write(sessionDirFor(root, '/srv/shop'), { id: 'abc', at: 2 });
    const far = write(sessionDirFor(root, '/srv/shop'), { id: 'bcd', at: 2 });

    expect(findSessions({ root, sessionDirectory, idPrefix: 'a' })).toEqual([mine]);
    expect(findSessions({ root, sessionDirectory, idPrefix: 'b' })).toEqual([far]);
    expect(findSessions({ root, sessionDirectory, isChosen: true, idPrefix: 'b' })).toEqual([]);
  });

  it('returns nothing for a missing folder', () => {
    expect(findSessions({ root: '/no/such', sessionDirectory: '/no/such/sessions', idPrefix: 'a' })).toEqual([]);
  });
});

describe('findSessionById', () => {
  it('matches only the exact id, in any project', () => {
    const root = tempFolder();
    write(sessionDirFor(root, '/srv/shop'), { id: 'abc1', at: 200 });
    const far = write(sessionDirFor(root, '/srv/other'), { id: 'abc', at: 100 });
    const find = (id: string) => findSessionById({ root, sessionDirectory: sessionDirFor(root, '/srv/shop'), id });

    expect(find('abc')).toBe(far);
    expect([find('ab'), find('abc12'), find('')]).toEqual([undefined, undefined, undefined]);
  });
});
