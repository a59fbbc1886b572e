import { execFileSync } from 'node:child_process';
import {
  chmodSync,
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
import { describe, expect, it } from 'vitest';
import { compile, exitOf, processes, temporaryFolder } from '../testing/script.ts';
import { writeFileAtomic, writePiecesAtomic } from './atomic-write.ts';

const base = temporaryFolder();
const start = processes();
const emptyFolder = () => mkdtempSync(join(base, 'case-'));
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('writeFileAtomic', () => {
  it('creates a file under the umask', () => {
    const folder = emptyFolder();

    writeFileAtomic(join(folder, 'new'), 'text ü\n');

    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('text ü\n');
    expect(modeOf(join(folder, 'new'))).toBe(0o666 & ~process.umask());
    expect(readdirSync(folder)).toEqual(['new']);
  });

  it('keeps the mode of the file it replaces, unless another is given', () => {
    const path = join(emptyFolder(), 'file');
    writeFileSync(path, 'old and longer');
    chmodSync(path, 0o604);

    writeFileAtomic(path, 'new');
    const kept = modeOf(path);
    writeFileAtomic(path, 'newer', { mode: 0o666 });

    expect([kept, modeOf(path), readFileSync(path, 'utf8')]).toEqual([0o604, 0o666, 'newer']);
  });

  it('gives a new file the given mode, whatever the umask', () => {
    const path = join(emptyFolder(), 'secret');

    writeFileAtomic(path, 'key', { mode: 0o600 });

    expect(modeOf(path)).toBe(0o600);
  });

  it.each(['real', 'not-yet'])('writes through links to %s', (name) => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'elsewhere'));
    writeFileSync(join(folder, 'elsewhere/real'), 'old');
    symlinkSync(`elsewhere/${name}`, join(folder, 'link'));
    symlinkSync('link', join(folder, 'link-to-link'));

    writeFileAtomic(join(folder, 'link-to-link'), 'new');

    expect(readFileSync(join(folder, 'elsewhere', name), 'utf8')).toBe('new');
    expect(lstatSync(join(folder, 'link-to-link')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
  });

  it('leaves no temporary file when it fails', () => {
    const folder = emptyFolder();
    mkdirSync(join(folder, 'taken'));

    expect(() => writeFileAtomic(join(folder, 'taken'), 'text')).toThrow(expect.objectContaining({ code: 'EISDIR' }));

    expect(readdirSync(folder)).toEqual(['taken']);
  });

  it('leaves the old text when the disk is full', () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'file'), 'old');
    const script = compile(
      base,
      `import { writeFileAtomic } from './files/atomic-write.ts';
       try { writeFileAtomic('${folder}/file', 'x'.repeat(100_000)); } catch (error) { console.log(error.code); }`,
    );

    const out = execFileSync('bash', ['-c', 'ulimit -f 8; "$0" "$1"', process.execPath, script], { encoding: 'utf8' });

    expect(out).toBe('EFBIG\n');
    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('shows a reader the old text or the new, never a mix', async () => {
    const path = join(emptyFolder(), 'file');
    writeFileSync(path, 'a'.repeat(100_000));
    const script = compile(
      base,
      `import { writeFileAtomic } from './files/atomic-write.ts';
       for (let times = 0; times < 100; times++) writeFileAtomic('${path}', 'ab'[times % 2].repeat(100_000));`,
    );
    const writer = start(process.execPath, [script]);
    let running = true;
    const exit = exitOf(writer).finally(() => {
      running = false;
    });

    while (running) {
      expect(readFileSync(path, 'utf8')).toMatch(/^(a{100000}|b{100000})$/);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await exit).toBe(0);
  });
});

describe('writePiecesAtomic', () => {
  const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));

  it('writes the pieces one after another, into a file of the given mode or with the mode of the old one', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'old'), 'old and longer');
    chmodSync(join(folder, 'old'), 0o604);

    await writePiecesAtomic(join(folder, 'new'), pieces('a', '', 'ü\n'), { newMode: 0o600 });
    await writePiecesAtomic(join(folder, 'old'), pieces('b'), { newMode: 0o600 });

    expect(readFileSync(join(folder, 'new'), 'utf8')).toBe('aü\n');
    expect(readFileSync(join(folder, 'old'), 'utf8')).toBe('b');
    expect([modeOf(join(folder, 'new')), modeOf(join(folder, 'old'))]).toEqual([0o600, 0o604]);
    expect(readdirSync(folder).sort()).toEqual(['new', 'old']);
  });

  it('leaves the old text and no other file when a piece fails', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'file'), 'old');
    function* failing() {
      yield Buffer.from('half');
      throw new Error('no more');
    }

    await expect(writePiecesAtomic(join(folder, 'file'), failing(), { newMode: 0o600 })).rejects.toThrow('no more');

    expect(readFileSync(join(folder, 'file'), 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['file']);
  });
});
