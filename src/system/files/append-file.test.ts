import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, temporaryFolder, until } from '../testing/script.ts';
import { AppendFile } from './append-file.ts';

const linux = process.platform === 'linux';
const folder = temporaryFolder();
const opened: AppendFile[] = [];
let files = 0;

const newPath = () => join(folder, `file-${++files}`);
function open(path: string, options: Parameters<typeof AppendFile.open>[1] = { create: true }): AppendFile {
  const file = AppendFile.open(path, options);
  opened.push(file);
  return file;
}

afterEach(() => {
  for (const file of opened.splice(0)) file.close();
});

describe('AppendFile', () => {
  it('creates a file only with `create`, with the given mode', () => {
    const path = newPath();

    expect(() => open(path, { create: false })).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    open(path, { create: true, mode: 0o600 });

    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('grows at the end and counts bytes', () => {
    const path = newPath();
    writeFileSync(path, 'before\n');
    const file = open(path, { create: false });

    file.append('ü\n');
    file.append('');
    file.append('last\n');

    expect(readFileSync(path, 'utf8')).toBe('before\nü\nlast\n');
    expect([file.path, file.size]).toEqual([path, 15]);
  });

  it('reads any range, and fewer bytes at the end', () => {
    const file = open(newPath());
    file.append('0123456789');

    expect(file.read(2, 3).toString()).toBe('234');
    expect(file.read(8, 100).toString()).toBe('89');
    expect(file.read(100, 1).toString()).toBe('');
  });

  it('appends after a truncation at the new end', () => {
    const path = newPath();
    const file = open(path);
    file.append('one\ntwo\n');

    file.truncate(4);
    file.append('three\n');

    expect([readFileSync(path, 'utf8'), file.size]).toEqual(['one\nthree\n', 10]);
  });

  it('has the bytes in the kernel when append returns: a killed process loses nothing', () => {
    const path = newPath();
    const script = compile(
      folder,
      `import { AppendFile } from './files/append-file.ts';
       const file = AppendFile.open('${path}', { create: true });
       for (let line = 0; line < 1000; line++) file.append(line + '\\n');
       process.kill(process.pid, 'SIGKILL');`,
    );

    expect(() => execFileSync(process.execPath, [script])).toThrow(expect.objectContaining({ signal: 'SIGKILL' }));

    expect(readFileSync(path, 'utf8').split('\n').length).toBe(1001);
  });

  it('leaves no half line when the file cannot grow, and appends again when it can', () => {
    const path = newPath();
    // The limit is 8 blocks of 1024 bytes: the second line fits in part.
    const script = compile(
      folder,
      `import { AppendFile } from './files/append-file.ts';
       const file = AppendFile.open('${path}', { create: true });
       file.append('a'.repeat(4999) + '\\n');
       try { file.append('b'.repeat(4999) + '\\n'); } catch (error) { console.log(error.code, file.size); }
       file.append('c'.repeat(999) + '\\n');
       console.log(file.size);`,
    );

    const out = execFileSync('bash', ['-c', 'ulimit -f 8; "$0" "$1"', process.execPath, script], { encoding: 'utf8' });

    expect(out).toBe('EFBIG 5000\n6000\n');
    expect(readFileSync(path, 'utf8')).toBe(`${'a'.repeat(4999)}\n${'c'.repeat(999)}\n`);
  });

  it.runIf(linux)('throws on every append while the device is full', () => {
    const file = open('/dev/full', { create: false });

    expect(() => file.append('text')).toThrow(expect.objectContaining({ code: 'ENOSPC' }));
    expect(() => file.append('text')).toThrow();
    expect(file.size).toBe(0);
  });

  it('rejects every operation once closed', async () => {
    const file = open(newPath());
    file.close();
    file.close();

    expect(() => file.append('text')).toThrow('is closed');
    expect(() => file.read(0, 1)).toThrow('is closed');
    expect(() => file.truncate(0)).toThrow('is closed');
    await expect(file.sync()).rejects.toThrow('is closed');
  });
});

describe('sync', () => {
  it('shares one running sync and one pending sync among all callers', async () => {
    const file = open(newPath());
    file.append('text');

    const first = file.sync();
    const second = file.sync();

    expect(second).not.toBe(first);
    expect(file.sync()).toBe(second);
    await Promise.all([first, second]);
    expect(file.sync()).not.toBe(second);
  });

  it('ends before the descriptor is closed', async () => {
    const path = newPath();
    const file = open(path);
    file.append('text');

    const syncs = [file.sync(), file.sync()];
    file.close();
    await Promise.all(syncs);

    if (linux) await until(() => !openPaths().includes(path));
  });
});

function openPaths(): string[] {
  return readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}
