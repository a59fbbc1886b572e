import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { compile, processes, readAll, temporaryFolder, until } from '../testing/script.ts';
import { type Landing, landingPath, openLanding, openRealFolder, type PathCheck } from './open-inside.ts';

const base = realpathSync(temporaryFolder());
const start = processes();
const emptyFolder = () => mkdtempSync(join(base, 'case-'));
const anywhere = () => {};

/** Allows real paths below a folder. */
const below = (root: string) => (path: string) => {
  if (path !== root && !path.startsWith(`${root}/`)) throw new Error(`outside: ${path}`);
};

async function using<T>(landing: Landing, work: (landing: Landing) => T | Promise<T>): Promise<T> {
  try {
    return await work(landing);
  } finally {
    landing.close();
  }
}

async function contentOf(landing: Landing): Promise<string> {
  const file = await landing.open();
  try {
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

const read = async (path: string, check: PathCheck = anywhere) => using(openLanding(path, check), contentOf);

const write = async (path: string, text: string, check: PathCheck = anywhere) =>
  using(openLanding(path, check, { makeFolders: true }), (landing) => landing.replace(text));

// macOS has no paths of descriptors: its way is tried here too.
const { platform } = process;
const asIf = (name: string) => Object.defineProperty(process, 'platform', { value: name });
afterEach(() => asIf(platform));

describe.each([platform, 'darwin'])('on %s', (system) => {
  it('a path lands where the kernel lands, for every tree of folders, files and links', async () => {
    const step = fc.constantFrom('a', 'b', 'c', 'a', 'b', 'c', '.', '..', 'missing');
    const entry = fc.record({
      at: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }),
      is: fc.constantFrom('folder', 'file', 'link', 'absolute link'),
      to: fc.array(step, { maxLength: 4 }),
    });
    // Deep enough that no combination of links and dots leaves the temporary folder.
    const depths = join(emptyFolder(), ...Array<string>(60).fill('d'));
    mkdirSync(depths, { recursive: true });
    asIf(system);

    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 10 }), fc.array(step, { maxLength: 8 }), async (entries, steps) => {
        const root = mkdtempSync(join(depths, 'tree-'));
        for (const { at, is, to } of entries) {
          const path = join(root, ...at);
          attempt(() => {
            if (is === 'folder') mkdirSync(path);
            else if (is === 'file') writeFileSync(path, path);
            else symlinkSync([is === 'link' ? '.' : root, ...to].join('/'), path);
          });
        }
        const path = [root, ...steps].join('/');
        const expected = attempt(() => realpathSync.native(path));

        if (expected !== undefined) {
          const checked: string[] = [];
          const landing = openLanding(path, (real) => checked.push(real));
          expect([landing.path, ...checked]).toEqual([expected, expected]);
          expect(landing.stats()?.ino).toBe(statSync(path).ino);
          if (statSync(path).isFile()) expect(await contentOf(landing)).toBe(readFileSync(path, 'utf8'));
          landing.close();
        }
        rmSync(root, { recursive: true });
      }),
      { numRuns: 150 },
    );
  });

  it('a file is made with its missing folders, at the target of dangling links', async () => {
    const folder = emptyFolder();
    symlinkSync('new', join(folder, 'link'));
    symlinkSync('link/deep/../file', join(folder, 'chain'));
    asIf(system);

    await write(join(folder, 'link/deep/x'), 'one');
    await write(join(folder, 'chain'), 'two');

    expect(readFileSync(join(folder, 'new/deep/x'), 'utf8')).toBe('one');
    expect(readFileSync(join(folder, 'new/file'), 'utf8')).toBe('two');
    expect(readdirSync(folder).sort()).toEqual(['chain', 'link', 'new']);
  });

  it('nothing is made or read for a rejected path', async () => {
    const [folder, outside] = [emptyFolder(), emptyFolder()];
    writeFileSync(join(outside, 'secret'), 'secret');
    symlinkSync(outside, join(folder, 'link'));
    symlinkSync('link/secret', join(folder, 'chain'));
    asIf(system);

    const inside = below(folder);
    await expect(write(join(folder, 'link/new/file'), '', inside)).rejects.toThrow('outside: ');
    await expect(write(join(folder, 'chain'), '', inside)).rejects.toThrow('outside: ');
    await expect(write(`${folder}/a/../../x`, '', inside)).rejects.toThrow('outside: ');
    await expect(read(join(folder, 'chain'), inside)).rejects.toThrow('outside: ');

    expect(readdirSync(outside)).toEqual(['secret']);
    expect(readFileSync(join(outside, 'secret'), 'utf8')).toBe('secret');
    expect(readdirSync(folder).sort()).toEqual(['chain', 'link']);
  });

  it('a link that takes the place of the file after the check is not followed', async () => {
    const [folder, outside] = [emptyFolder(), emptyFolder()];
    const [file, secret] = [join(folder, 'file'), join(outside, 'secret')];
    writeFileSync(secret, 'secret');
    writeFileSync(file, 'old');
    asIf(system);
    const landing = openLanding(file, below(folder));
    unlinkSync(file);
    symlinkSync(secret, file);

    await expect(landing.open()).rejects.toThrow(/ELOOP|EMLINK/);
    await expect(landing.replace('new')).rejects.toThrow(/ELOOP|EMLINK|Changed while/);
    landing.close();

    expect(readFileSync(secret, 'utf8')).toBe('secret');
  });

  it('a folder that is replaced by a file after the check takes no file', async () => {
    const folder = join(emptyFolder(), 'folder');
    mkdirSync(folder);
    asIf(system);
    const landing = openLanding(join(folder, 'file'), anywhere);
    rmdirSync(folder);
    writeFileSync(folder, 'text');

    await expect(landing.replace('new')).rejects.toThrow(/ENOENT|ENOTDIR/);
    await expect(landing.open()).rejects.toThrow(/ENOENT|ENOTDIR/);
    landing.close();

    expect(readFileSync(folder, 'utf8')).toBe('text');
  });

  it('a folder that becomes a file or a loop of links is an error of the system', async () => {
    const folder = emptyFolder();
    writeFileSync(join(folder, 'file'), '');
    symlinkSync('loop', join(folder, 'loop'));
    asIf(system);

    await expect(write(join(folder, 'file/x'), '')).rejects.toThrow('ENOTDIR');
    await expect(read(join(folder, 'file/x'))).rejects.toThrow('ENOTDIR');
    await expect(read(join(folder, 'loop'))).rejects.toThrow('ELOOP');
    await expect(read(join(folder, 'missing/x'))).rejects.toThrow('ENOENT');
  });

  it('an error names the real path, and no descriptor', async () => {
    const folder = emptyFolder();
    asIf(system);

    await expect(read(join(folder, 'missing'))).rejects.toThrow(
      `ENOENT: no such file or directory, open '${join(folder, 'missing')}'`,
    );
  });

  it('a replaced file keeps its mode, a file with other names keeps them', async () => {
    const folder = emptyFolder();
    const [file, other] = [join(folder, 'file'), join(folder, 'other')];
    writeFileSync(file, 'old');
    chmodSync(file, 0o750);
    asIf(system);

    await write(file, 'new');
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o7777]).toEqual(['new', 0o750]);

    linkSync(file, other);
    await write(file, 'newer');
    expect([readFileSync(other, 'utf8'), statSync(file).nlink]).toEqual(['newer', 2]);
    expect(readdirSync(folder).sort()).toEqual(['file', 'other']);
  });

  it('descriptors do not remain open', async () => {
    const folder = emptyFolder();
    symlinkSync('/', join(folder, 'link'));
    const nextDescriptor = () => {
      const fd = openSync(folder, 'r');
      closeSync(fd);
      return fd;
    };
    asIf(system);
    await write(join(folder, 'a/b/file'), '');
    const before = nextDescriptor();

    for (let times = 0; times < 20; times++) {
      await write(join(folder, `${times}/b/file`), '');
      await read(join(folder, 'a/b/missing')).catch(() => {});
      await write(join(folder, 'a/b/file/x'), '').catch(() => {});
      attempt(() => openLanding(join(folder, 'link/x'), below(folder)));
      attempt(() => openRealFolder(join(folder, 'missing')));
      attempt(() => openRealFolder(join(folder, 'link')));
    }

    expect(nextDescriptor()).toBe(before);
  });
});

it('a folder that is moved away is written where it is now, and its old path is free', async () => {
  if (platform !== 'linux') return;
  const folder = emptyFolder();
  mkdirSync(join(folder, 'a'));
  const landing = openLanding(join(folder, 'a/file'), below(folder));
  renameSync(join(folder, 'a'), join(folder, 'b'));
  symlinkSync(emptyFolder(), join(folder, 'a'));

  await using(landing, (opened) => opened.replace('text'));

  expect(readFileSync(join(folder, 'b/file'), 'utf8')).toBe('text');
});

it('links of /proc lead to real paths or nowhere', async () => {
  if (platform !== 'linux') return;
  const file = join(emptyFolder(), 'file');
  writeFileSync(file, 'text');
  const fd = openSync(file, 'r');

  expect(landingPath(`/proc/self/root${file}`)).toBe(file);
  expect(landingPath(`/proc/self/cwd/../../${file}`)).not.toContain('/proc');
  expect(landingPath(`/proc/self/fd/${fd}`)).toBe(file);
  await expect(write(`/proc/self/root${file}`, '', below('/proc'))).rejects.toThrow(`outside: ${file}`);
  await expect(write(`/proc/self/fd/${fd}`, '', below('/proc'))).rejects.toThrow(`outside: ${file}`);
  unlinkSync(file);
  await expect(read(`/proc/self/fd/${fd}`)).rejects.toThrow('ENOENT');
  closeSync(fd);
  expect(existsSync(file)).toBe(false);
});

it('the standard input of this process is no file', async () => {
  if (platform !== 'linux') return;
  const script = compile(
    base,
    `import { openLanding } from './files/open-inside.ts';
     for (const path of ['/dev/stdin', '/proc/self/fd/0', '/dev/fd/0']) {
       const landing = openLanding(path, () => {});
       await landing.open().catch(({ code }) => console.log(code, landing.stats()));
     }`,
  );
  const child = start(process.execPath, [script], { stdio: ['pipe', 'pipe', 'inherit'] });

  expect(await readAll(child.stdout)).toBe('ENOENT undefined\n'.repeat(3));
});

it('a pipe is opened without waiting for its writer', async () => {
  const pipe = join(emptyFolder(), 'pipe');
  execFileSync('mkfifo', [pipe]);

  expect(await read(pipe)).toBe('');
});

// A folder of the path and a link to the outside change places, and a link changes its target, all the time.
const SWAPPER = `
  import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
  const [inside, outside] = process.argv.slice(2);
  process.chdir(inside);
  symlinkSync(outside, 'link');
  symlinkSync('real', 'flip');
  writeFileSync('started', '');
  for (;;) {
    renameSync('swapped', 'parked');
    renameSync('link', 'swapped');
    renameSync('swapped', 'link');
    renameSync('parked', 'swapped');
    for (const target of [outside, 'real']) {
      symlinkSync(target, 'next');
      renameSync('next', 'flip');
    }
  }`;

it('no file is written or read outside while another process exchanges folders and links', async () => {
  if (platform !== 'linux') return;
  const [inside, outside] = [emptyFolder(), emptyFolder()];
  for (const name of ['swapped', 'real']) mkdirSync(join(inside, name));
  for (const name of ['secret', 'swapped-secret']) writeFileSync(join(outside, name), 'outside');
  for (const name of ['swapped', 'real']) writeFileSync(join(inside, name, 'secret'), 'inside');
  const swapper = start(process.execPath, [compile(base, SWAPPER), inside, outside]);
  await until(() => existsSync(join(inside, 'started')));
  const check = below(inside);
  const results = { written: 0, rejected: 0, seen: new Set<string>() };

  // Until an exchange was met in the middle of a write.
  const isProven = () => results.written > 0 && results.rejected > 0;
  for (let times = 0; times < 2000 || (times < 100_000 && !isProven()); times++) {
    const folder = times % 2 ? 'swapped' : 'flip';
    const path = join(inside, folder, `${times % 50}`);
    await write(path, 'x', check).then(
      () => results.written++,
      () => results.rejected++,
    );
    await read(join(inside, folder, 'secret'), check).then(
      (text) => results.seen.add(text),
      () => {},
    );
  }
  swapper.kill('SIGKILL');

  expect(readdirSync(outside).sort()).toEqual(['secret', 'swapped-secret']);
  expect([...results.seen]).toEqual(['inside']);
  expect(results.written).toBeGreaterThan(0);
  expect(results.rejected).toBeGreaterThan(0);
  expect(dirname(inside)).toBe(base);
});

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
