import { mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../testing/script.ts';
import { makeFolder } from './make-folder.ts';

const base = temporaryFolder();
const failsWith = (code: string) => expect.objectContaining({ code, syscall: expect.any(String) });

describe('makeFolder', () => {
  it('creates a folder and its parents, and accepts an existing one', () => {
    const path = join(base, 'a/b/c');

    makeFolder(path);
    makeFolder(path);

    expect(statSync(path).isDirectory()).toBe(true);
  });

  it('follows links to folders', () => {
    mkdirSync(join(base, 'real'));
    symlinkSync('real', join(base, 'link'));

    makeFolder(join(base, 'link/inside'));

    expect(statSync(join(base, 'real/inside')).isDirectory()).toBe(true);
  });

  it('throws the error of the system', () => {
    writeFileSync(join(base, 'file'), '');
    symlinkSync('nowhere', join(base, 'dangling'));

    expect(() => makeFolder(join(base, 'file'))).toThrow(failsWith('EEXIST'));
    expect(() => makeFolder(join(base, 'file/inside'))).toThrow(failsWith('ENOTDIR'));
    expect(() => makeFolder(join(base, 'dangling/inside'))).toThrow(failsWith('EEXIST'));
    expect(() => makeFolder(join(base, 'x'.repeat(300)))).toThrow(failsWith('ENAMETOOLONG'));
    expect(() => makeFolder('/dev/fd/nope/inside')).toThrow(expect.objectContaining({ syscall: 'mkdir' }));
  });
});
