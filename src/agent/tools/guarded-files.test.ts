import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SandboxLaunch } from '../../system/sandbox/sandbox.ts';
import { compile, processes, temporaryFolder, until } from '../../system/testing/script.ts';
import type { FileAccess, Permission } from '../permission.ts';
import { builtinTools } from './builtin-tools.ts';

const base = realpathSync(temporaryFolder());
const start = processes();

interface Workspace {
  readonly cwd: string;
  readonly outside: string;
  readonly files: FileAccess;
}

/** A workspace that may be changed, beside a readable folder `outside`; `.env` files and `secrets` are hidden everywhere. */
function workspace(): Workspace {
  const root = mkdtempSync(join(base, 'case-'));
  const [cwd, outside] = [join(root, 'workspace'), join(root, 'outside')];
  mkdirSync(cwd);
  mkdirSync(outside);
  const isHidden = (path: string) => path.split('/').includes('secrets') || path.endsWith('/.env');
  return {
    cwd,
    outside,
    files: {
      translate: (path) => path,
      mayRead: (path) => !isHidden(path),
      mayWrite: (path) => path.startsWith(`${cwd}/`) && !isHidden(path),
    },
  };
}

/** Calls a tool and returns the text that the model sees. */
async function call(cwd: string, permission: Permission | undefined, name: string, args: Record<string, unknown>) {
  const tools = builtinTools({ cwd, env: {}, family: 'test' }, async () => ({ content: [] }));
  const tool = tools.find((one) => one.name === name);
  if (!tool) throw new Error(name);
  const signal = new AbortController().signal;
  const invocation = { toolCallId: 'call', args, signal, update: () => {}, ...(permission ? { permission } : {}) };
  const { content } = await tool.execute(invocation);
  return content.map((block) => (block.type === 'text' ? block.text : block.type)).join();
}

const guarded =
  ({ cwd, files }: Workspace) =>
  (name: string, args: Record<string, unknown>) =>
    call(cwd, { files }, name, args);

const editOf = (path: string) => ({ path, edits: [{ oldText: 'key', newText: 'new' }] });

describe('a hidden file', () => {
  it.each(['.env', 'link', 'chain', 'folder/../.env', 'below/.env', 'folder-link/token'])(
    'cannot be read, searched or edited as %s',
    async (path) => {
      const space = workspace();
      const { cwd, outside } = space;
      mkdirSync(join(cwd, 'folder'));
      mkdirSync(join(outside, 'secrets'));
      writeFileSync(join(outside, 'secrets/token'), 'key');
      writeFileSync(join(cwd, '.env'), 'key');
      symlinkSync('.env', join(cwd, 'link'));
      symlinkSync('folder/../link', join(cwd, 'chain'));
      symlinkSync('.', join(cwd, 'below'));
      symlinkSync(join(outside, 'secrets'), join(cwd, 'folder-link'));
      const run = guarded(space);

      const hidden = `${path} is hidden.`;
      await expect(run('read', { path })).rejects.toThrow(hidden);
      await expect(run('grep', { path, pattern: 'key' })).rejects.toThrow(hidden);
      await expect(run('edit', editOf(path))).rejects.toThrow(hidden);
      await expect(run('write', { path, content: 'new' })).rejects.toThrow(
        `${path} lies outside of what may be changed.`,
      );

      expect(readFileSync(join(cwd, '.env'), 'utf8')).toBe('key');
      expect(readFileSync(join(outside, 'secrets/token'), 'utf8')).toBe('key');
    },
  );

  it('is left out by ls, find and grep, with its links', async () => {
    const space = workspace();
    const { cwd } = space;
    mkdirSync(join(cwd, 'sub/secrets'), { recursive: true });
    for (const name of ['.env', 'open', 'sub/.env', 'sub/open', 'sub/secrets/a.txt'])
      writeFileSync(join(cwd, name), 'key');
    symlinkSync('sub/secrets', join(cwd, 'to-secrets'));
    symlinkSync('loop', join(cwd, 'loop'));
    const run = guarded(space);

    expect((await run('ls', {})).split('\n')).toEqual(['loop', 'open', 'sub/']);
    expect((await run('ls', { path: 'sub' })).split('\n')).toEqual(['open']);
    expect((await run('find', { pattern: '*' })).split('\n')).toEqual(['loop', 'open', 'sub/', 'sub/open']);
    expect((await run('grep', { pattern: 'key' })).split('\n')).toEqual(['open:1: key', 'sub/open:1: key']);
    for (const name of ['ls', 'find', 'grep'])
      await expect(run(name, { path: 'to-secrets', pattern: '*' })).rejects.toThrow('to-secrets is hidden.');
  });

  it('does not count for the limit of grep', async () => {
    const space = workspace();
    writeFileSync(join(space.cwd, '.env'), 'key\nkey\nkey\n');
    writeFileSync(join(space.cwd, 'open'), 'key\n');

    expect(await guarded(space)('grep', { pattern: 'key', limit: 1 })).toBe('open:1: key');
  });

  it('in a folder that is hidden as a whole is not even read by grep', async () => {
    const space = workspace();
    const names = ['[a]{b}*?!\\', '!secrets', 'sub/secrets', 'sub/secret'];
    for (const name of names) {
      mkdirSync(join(space.cwd, name), { recursive: true });
      writeFileSync(join(space.cwd, name, 'file'), 'key');
    }
    const hidden = ['/elsewhere', ...names.slice(0, 3).map((name) => join(space.cwd, name))];

    const output = await guarded({ ...space, files: { ...space.files, mayRead: () => true, hidden } })('grep', {
      pattern: 'key',
    });

    expect(output).toBe('sub/secret/file:1: key');
  });
});

describe('a file outside', () => {
  it.each([
    '../outside/file',
    'link',
    'chain',
    'folder-link/file',
    'dangling',
    'folder-link/new/file',
    '/proc/self/root',
  ])('cannot be changed as %s', async (path) => {
    const space = workspace();
    const { cwd, outside } = space;
    writeFileSync(join(outside, 'file'), 'key');
    symlinkSync('../outside/file', join(cwd, 'link'));
    symlinkSync('link', join(cwd, 'chain'));
    symlinkSync(outside, join(cwd, 'folder-link'));
    symlinkSync(join(outside, 'new'), join(cwd, 'dangling'));
    const run = guarded(space);
    const given = path === '/proc/self/root' ? path + join(outside, 'file') : path;

    const denied = `${given} lies outside of what may be changed.`;
    await expect(run('write', { path: given, content: 'new' })).rejects.toThrow(denied);
    await expect(run('edit', editOf(given))).rejects.toThrow(denied);

    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('key');
    expect(readdirSync(outside)).toEqual(['file']);
    expect(readdirSync(cwd).sort()).toEqual(['chain', 'dangling', 'folder-link', 'link']);
  });

  it('can be read, and changed where that was approved', async () => {
    const space = workspace();
    const file = join(space.outside, 'new/file');
    const approved = { ...space, files: { ...space.files, mayWrite: (path: string) => path === file } };

    await guarded(approved)('write', { path: file, content: 'key' });
    await guarded(approved)('edit', editOf(file));

    expect(await guarded(space)('read', { path: file })).toBe('new');
    expect(await guarded(space)('ls', { path: '../outside' })).toBe('new/');
  });

  it('is not changed by a call that was approved for a path that leads elsewhere by now', async () => {
    const space = workspace();
    const { cwd, outside } = space;
    const file = join(cwd, 'folder/file');
    mkdirSync(dirname(file));
    writeFileSync(file, 'key');
    writeFileSync(join(outside, 'file'), 'key');
    const approved = { ...space, files: { ...space.files, mayWrite: (path: string) => path === file } };
    renameSync(dirname(file), join(cwd, 'moved'));
    symlinkSync(outside, dirname(file));

    const denied = 'folder/file lies outside of what may be changed.';
    await expect(guarded(approved)('write', { path: 'folder/file', content: '' })).rejects.toThrow(denied);
    await expect(guarded(approved)('edit', editOf('folder/file'))).rejects.toThrow(denied);

    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('key');
    expect(readFileSync(join(cwd, 'moved/file'), 'utf8')).toBe('key');
  });
});

describe('with limited access', () => {
  it('the tools return what they return without limits', async () => {
    const [one, other] = [workspace(), workspace()];
    const calls = [
      ['write', { path: 'a/b.txt', content: 'one\nkey\n' }],
      ['write', { path: 'a/b.txt', content: 'two\nkey\n' }],
      ['edit', editOf('a/b.txt')],
      ['edit', editOf('a/missing')],
      ['read', { path: 'a/b.txt' }],
      ['read', { path: 'a/b.txt', offset: 2 }],
      ['grep', { pattern: 'two', context: 1 }],
      ['grep', { pattern: 'two', path: 'a/b.txt' }],
      ['grep', { pattern: 'two', path: 'missing' }],
      ['find', { pattern: '**/*.txt' }],
      ['find', { pattern: '*', path: 'a/b.txt' }],
      ['ls', { path: 'a' }],
      ['ls', { path: 'a/b.txt' }],
      ['ls', { path: 'missing' }],
      ['read', { path: 'a' }],
      ['read', { path: 'missing' }],
      ['read', { path: 'a/b.txt/c' }],
      ['write', { path: 'a', content: '' }],
      ['read', { path: 'pipe' }],
      ['write', { path: 'pipe', content: '' }],
      ['read', { path: '/dev/null' }],
    ] as const;
    for (const { cwd } of [one, other]) execFileSync('mkfifo', [join(cwd, 'pipe')]);

    for (const [name, args] of calls) {
      const limited = await outcome(call(one.cwd, { files: { ...one.files, mayWrite: () => true } }, name, args));
      const free = await outcome(call(other.cwd, undefined, name, args));
      expect(limited.replaceAll(dirname(one.cwd), ''), name).toBe(free.replaceAll(dirname(other.cwd), ''));
    }
  });

  it('a file with other names is overwritten in place', async () => {
    const space = workspace();
    const [file, other] = [join(space.cwd, 'file'), join(space.cwd, 'other')];
    writeFileSync(file, 'key');
    linkSync(file, other);

    await guarded(space)('edit', editOf('file'));

    expect(readFileSync(other, 'utf8')).toBe('new');
  });

  it('edits of one file at the same time lose no edit', async () => {
    const space = workspace();
    const numbers = Array.from({ length: 10 }, (_, index) => `<${index}>`);
    writeFileSync(join(space.cwd, 'file'), numbers.join('\n'));
    symlinkSync('file', join(space.cwd, 'link'));

    await Promise.all(
      numbers.map((number, index) =>
        guarded(space)('edit', {
          path: index % 2 ? 'file' : 'link',
          edits: [{ oldText: number, newText: `new${index}` }],
        }),
      ),
    );

    expect(readFileSync(join(space.cwd, 'file'), 'utf8')).toBe(numbers.map((_, index) => `new${index}`).join('\n'));
  });

  it('an absolute path means the same folder for every tool', async () => {
    const space = workspace();
    const tmp = join(space.outside, 'tmp');
    mkdirSync(tmp);
    const files: FileAccess = {
      ...space.files,
      translate: (path) => path.replace(/^\/session-tmp(?=\/|$)/, tmp),
      mayWrite: (path) => path.startsWith(`${tmp}/`),
    };
    const run = guarded({ ...space, files });

    await run('write', { path: '/session-tmp/a/b', content: 'key' });
    await run('edit', editOf('/session-tmp/a/b'));

    expect(readFileSync(join(tmp, 'a/b'), 'utf8')).toBe('new');
    expect(await run('read', { path: '/session-tmp/a/b' })).toBe('new');
    expect(await run('ls', { path: '/session-tmp' })).toBe('a/');
    expect(await run('find', { path: '/session-tmp', pattern: 'b' })).toBe('a/b');
    expect(await run('grep', { path: '/session-tmp', pattern: 'new' })).toBe('a/b:1: new');
    await expect(run('read', { path: '/session-tmp/../etc/x' })).rejects.toThrow("'/etc/x'");
  });

  it('grep runs ripgrep in the sandbox, in the folder that the model named', async () => {
    const space = workspace();
    const tmp = join(space.outside, 'tmp');
    mkdirSync(join(tmp, 'a'), { recursive: true });
    writeFileSync(join(tmp, 'a/b'), 'key');
    writeFileSync(join(space.cwd, 'file'), 'key');
    const launches: SandboxLaunch[] = [];
    const confine = async (launch: SandboxLaunch) => {
      launches.push(launch);
      return { ...launch, cwd: launch.cwd.replace('/session-tmp', tmp) };
    };
    const files = { ...space.files, translate: (path: string) => path.replace('/session-tmp', tmp) };
    const run = (args: Record<string, unknown>) =>
      call(space.cwd, { files, sandbox: { confine, reach: '' } }, 'grep', args);

    expect(await run({ pattern: 'key' })).toBe('file:1: key');
    expect(await run({ pattern: 'key', path: '/session-tmp' })).toBe('a/b:1: key');
    expect(await run({ pattern: 'key', path: '/session-tmp/a/b' })).toBe('b:1: key');
    expect(launches.map(({ cwd }) => cwd)).toEqual([space.cwd, '/session-tmp', '/session-tmp/a']);
    expect(launches.map(({ command }) => basename(command))).toEqual(['rg', 'rg', 'rg']);
    const failing = { confine: () => Promise.reject(new Error('no sandbox')), reach: '' };
    await expect(call(space.cwd, { files, sandbox: failing }, 'grep', { pattern: 'key' })).rejects.toThrow(
      'no sandbox',
    );
  });
});

// A folder of the workspace and a link to hidden files change places all the time.
const SWAPPER = `
  import { renameSync, symlinkSync, writeFileSync } from 'node:fs';
  process.chdir(process.argv[2]);
  symlinkSync('../outside/secrets', 'link');
  writeFileSync('started', '');
  for (;;) {
    renameSync('swapped', 'parked');
    renameSync('link', 'swapped');
    renameSync('swapped', 'link');
    renameSync('parked', 'swapped');
  }`;

it('find, ls and read show nothing hidden while another process exchanges a folder and a link', async () => {
  if (process.platform !== 'linux') return;
  const space = workspace();
  const { cwd, outside } = space;
  mkdirSync(join(cwd, 'swapped'));
  mkdirSync(join(outside, 'secrets'));
  writeFileSync(join(outside, 'secrets/hidden-name'), 'key');
  writeFileSync(join(cwd, 'swapped/open-name'), 'open');
  const swapper = start(process.execPath, [compile(base, SWAPPER), cwd]);
  await until(() => existsSync(join(cwd, 'started')));
  const run = guarded(space);
  const seen: string[] = [];

  for (let times = 0; times < 1000; times++) {
    seen.push(await outcome(run('find', { pattern: '*-name' })));
    seen.push(await outcome(run('ls', { path: 'swapped' })));
    seen.push(await outcome(run('read', { path: 'swapped/hidden-name' })));
  }
  swapper.kill('SIGKILL');

  expect(seen.filter((text) => text.includes('swapped/open-name')).length).toBeGreaterThan(0);
  expect(seen).toContain('open-name');
  expect(seen).not.toContain('key');
  expect(seen.filter((text) => /^(\w+\/)?hidden-name$/m.test(text))).toEqual([]);
});

/** The text of a result or an error. */
const outcome = (result: Promise<string>) => result.catch((error: Error) => `Error: ${error.message}`);
