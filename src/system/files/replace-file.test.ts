import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile, temporaryFolder } from '../testing/script.ts';
import { replaceFile } from './replace-file.ts';

const NOBODY = 65534;

const base = temporaryFolder();
const emptyFolder = () => mkdtempSync(join(base, 'case-'));
const modeOf = (path: string) => statSync(path).mode & 0o7777;

/** Replaces a file in another process, started by a shell line in which `$0` runs it, and returns its output. */
function replaceIn(line: string, path: string, text: string, options: { uid?: number } = {}): string {
  const script = compile(
    base,
    `import { replaceFile } from './files/replace-file.ts';
     replaceFile(${JSON.stringify(path)}, ${JSON.stringify(text)}).then(() => console.log('done'), (error) => console.log(error.code));`,
  );
  return spawnSync('bash', ['-c', line, process.execPath, script], { encoding: 'utf8', ...options }).stdout;
}

// A user without the owner's rights: root would have all of them.
const otherUser = process.getuid?.() === 0 ? { uid: NOBODY } : {};

describe('a missing file', () => {
  it('is created under the umask, whatever the length of its name', async () => {
    const folder = emptyFolder();
    const name = '界'.repeat(80);

    await replaceFile(join(folder, name), 'text ü\n');

    expect(readFileSync(join(folder, name), 'utf8')).toBe('text ü\n');
    expect(modeOf(join(folder, name))).toBe(0o666 & ~process.umask());
    expect(readdirSync(folder)).toEqual([name]);
  });

  it('is created at the target of a dangling link', async () => {
    const folder = emptyFolder();
    symlinkSync('target', join(folder, 'link'));

    await replaceFile(join(folder, 'link'), 'new');

    expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
  });
});

describe('an existing file', () => {
  it('keeps its mode and its symlinks', async () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere/file'), 'old');
    chmodSync(join(folder, 'elsewhere/file'), 0o4751);
    symlinkSync('elsewhere/file', join(folder, 'link'));

    await replaceFile(join(folder, 'link'), 'new');

    expect(readFileSync(join(folder, 'elsewhere/file'), 'utf8')).toBe('new');
    expect(modeOf(join(folder, 'elsewhere/file'))).toBe(0o4751);
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
    expect(readdirSync(join(folder, 'elsewhere'))).toEqual(['file']);
  });

  it('stays one file under all its hard links', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'one'), 'the old text');
    linkSync(join(folder, 'one'), join(folder, 'two'));

    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 40 }), async (text) => {
        await replaceFile(join(folder, 'one'), text);

        expect(readFileSync(join(folder, 'two'), 'utf8')).toBe(Buffer.from(text).toString());
      }),
      { numRuns: 20 },
    );
    expect(readdirSync(folder)).toEqual(['one', 'two']);
  });

  it('is unchanged when the disk is full, also with several hard links', () => {
    const folder = emptyFolder();
    for (const name of ['single', 'one']) writeFileSync(join(folder, name), 'old');
    linkSync(join(folder, 'one'), join(folder, 'two'));

    const out = ['single', 'one'].map((name) =>
      replaceIn('ulimit -f 8; "$0" "$1"', join(folder, name), 'x'.repeat(100_000)),
    );

    expect(out).toEqual(['EFBIG\n', 'EFBIG\n']);
    expect(['single', 'one', 'two'].map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(
      Array(3).fill('old'),
    );
    expect(readdirSync(folder)).toEqual(['one', 'single', 'two']);
  });

  it('that is a folder is rejected', async () => {
    const folder = emptyFolder();

    await expect(replaceFile(folder, 'text')).rejects.toMatchObject({ code: 'EISDIR' });
  });

  it('that is read-only is rejected, even in a writable folder', () => {
    const folder = emptyFolder();
    chmodSync(base, 0o777);
    chmodSync(folder, 0o777);
    writeFileSync(join(folder, 'file'), 'old');
    chmodSync(join(folder, 'file'), 0o444);

    const out = replaceIn('"$0" "$1"', join(folder, 'file'), 'new', otherUser);

    expect(out).toBe('EACCES\n');
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('old');
  });

  it('is overwritten where no file can be created beside it', () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'file'), 'the old text');
    chmodSync(join(folder, 'file'), 0o666);
    chmodSync(folder, 0o555);

    const out = replaceIn('"$0" "$1"', join(folder, 'file'), 'new', otherUser);

    expect(out).toBe('done\n');
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('new');
  });
});

describe.runIf(process.getuid?.() === 0)('the owner of a file', () => {
  it.each([
    ['is kept by root, which could change it', {}],
    ['is kept by other users, which could not restore it', { uid: NOBODY - 1 }],
  ])('%s', (_who, options) => {
    const folder = emptyFolder();
    chmodSync(folder, 0o777);
    writeFileSync(join(folder, 'file'), 'old');
    chownSync(join(folder, 'file'), NOBODY, NOBODY);
    chmodSync(join(folder, 'file'), 0o666);

    const out = replaceIn('"$0" "$1"', join(folder, 'file'), 'new', options);

    const { uid, gid } = statSync(join(folder, 'file'));
    expect([out, uid, gid, readFileSync(join(folder, 'file'), 'utf8')]).toEqual(['done\n', NOBODY, NOBODY, 'new']);
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

it('replaceFile leaves a whole file when it is killed at any moment', () => {
  const folder = emptyFolder();
  const path = join(folder, 'file');
  writeFileSync(path, 'a'.repeat(200_000));
  const script = compile(
    base,
    `import { replaceFile } from './files/replace-file.ts';
     setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.argv[2]));
     for (let times = 0; ; times++) await replaceFile(${JSON.stringify(path)}, 'ab'[times % 2].repeat(200_000));`,
  );

  for (let round = 0; round < 5; round++) {
    try {
      execFileSync(process.execPath, [script, String(round * 7)]);
    } catch {
      expect(readFileSync(path, 'utf8')).toMatch(/^(a{200000}|b{200000})$/);
    }
  }
  expect.assertions(5);
});
