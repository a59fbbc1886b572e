import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../system/files/lock.ts';
import { until } from '../system/testing/script.ts';
import { ConfinedFolders } from './approvals/confined-folders.ts';
import { tempFolder } from './testing/temp-folder.ts';
import { TrustStore } from './trust.ts';

function open() {
  const root = tempFolder();
  const agentDir = join(root, 'agent');
  return { root, agentDir, file: join(agentDir, 'trust.json'), store: new TrustStore(agentDir) };
}

describe('TrustStore', () => {
  it('is undecided at first', () => {
    const { store, root } = open();

    expect(store.isTrusted(root)).toBeUndefined();
  });

  it('stores decisions in a private file, for the folder and those below, nearest first', async () => {
    const { store, agentDir, file } = open();

    await store.decide('/no-such/srv/shop', true);
    await store.decide('/no-such/srv/shop/vendor', false);

    const other = new TrustStore(agentDir);
    expect(other.isTrusted('/no-such/srv/shop')).toBe(true);
    expect(other.isTrusted('/no-such/srv/shop/src/deep')).toBe(true);
    expect(other.isTrusted('/no-such/srv/shop/vendor/x')).toBe(false);
    expect(other.isTrusted('/no-such/srv')).toBeUndefined();
    expect(other.isTrusted('/no-such/srv/shopping')).toBeUndefined();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toBe(
      '{\n  "/no-such/srv/shop": true,\n  "/no-such/srv/shop/vendor": false\n}\n',
    );
  });

  it('does not cover a folder below one in which commands were confined, but by a decision for it', async () => {
    const { store, agentDir, root } = open();
    const [work, app, vendor, other] = ['work', 'work/app', 'work/app/vendor', 'work/other'].map((name) => {
      const folder = join(root, name);
      mkdirSync(folder, { recursive: true });
      return folder;
    }) as [string, string, string, string];
    await store.decide(work, true);
    await new ConfinedFolders(agentDir).add([app]);

    const before = [work, app, vendor, join(vendor, 'deep'), other].map((folder) => store.isTrusted(folder));
    await store.decide(vendor, true);
    await new ConfinedFolders(agentDir).add([other, join(app, 'more')]);

    expect(before).toEqual([true, true, undefined, undefined, true]);
    expect([vendor, join(vendor, 'deep')].map((folder) => store.isTrusted(folder))).toEqual([true, undefined]);
    expect(readFileSync(join(agentDir, 'confined-folders.json'), 'utf8')).toBe(
      `${JSON.stringify({ [app]: true, [other]: true }, null, 2)}\n`,
    );
    writeFileSync(join(agentDir, 'confined-folders.json'), '{');
    expect([store.isTrusted(work), store.isTrusted(app)]).toEqual([true, undefined]);
  });

  it('lets a later decision replace an earlier one, and the root apply to all', async () => {
    const { store } = open();

    await store.decide('/', true);
    await store.decide('/no-such/srv', true);
    await store.decide('/no-such/srv', false);

    expect(store.isTrusted('/no-such/srv/shop')).toBe(false);
    expect(store.isTrusted('/no-such/opt')).toBe(true);
  });

  it('identifies a folder by its real path', async () => {
    const { store, root } = open();
    mkdirSync(join(root, 'real'));
    symlinkSync(join(root, 'real'), join(root, 'link'));

    await store.decide(join(root, 'link'), true);

    expect(store.isTrusted(join(root, 'real'))).toBe(true);
    expect(store.isTrusted(join(root, 'link/below'))).toBe(true);
  });

  it('keeps the decisions of other processes and unknown values', async () => {
    const { store, agentDir, file } = open();
    await store.decide('/no-such/a', true);
    await new TrustStore(agentDir).decide('/no-such/b', true);
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), '/no-such/c': null }));

    await store.decide('/no-such/d', false);

    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({
      '/no-such/a': true,
      '/no-such/b': true,
      '/no-such/c': null,
      '/no-such/d': false,
    });
    expect(store.isTrusted('/no-such/c')).toBeUndefined();
  });

  it.each(['{"/no-such/srv": tr', '[]', '7', ''])(
    'treats a file that holds %j as empty and renames it',
    async (text) => {
      const { store, agentDir, file } = open();
      mkdirSync(agentDir);
      writeFileSync(file, text);

      expect(store.isTrusted('/no-such/srv')).toBeUndefined();
      await store.decide('/no-such/srv', true);

      expect(store.isTrusted('/no-such/srv')).toBe(true);
      expect(readFileSync(`${file}.bad`, 'utf8')).toBe(text);
    },
  );

  it('reads the file only with its lock: a holder that completes a malformed file loses nothing', async () => {
    const { store, agentDir, file } = open();
    mkdirSync(agentDir);
    writeFileSync(file, '{"/no-such/a": tr');
    const lock = await acquireLock(file);

    const decided = store.decide('/no-such/b', true);
    writeFileSync(file, '{"/no-such/a": true}');
    await lock.release();
    await decided;

    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ '/no-such/a': true, '/no-such/b': true });
    expect(existsSync(`${file}.bad`)).toBe(false);
  });

  it('decides at once and keeps a malformed file', () => {
    const { store, agentDir, file } = open();
    mkdirSync(agentDir);
    writeFileSync(file, '{"/no-such/a": tr');

    store.decideNow([
      { path: '/no-such/b', decision: true },
      { path: '/no-such/c', decision: null },
    ]);

    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ '/no-such/b': true });
    expect(readFileSync(`${file}.bad`, 'utf8')).toBe('{"/no-such/a": tr');
  });

  it('writes nothing at once if the file cannot be read', () => {
    const { store, file } = open();
    mkdirSync(file, { recursive: true });

    expect(() => store.decideNow([{ path: '/no-such/b', decision: true }])).toThrow('trust.json: this is not a file');
  });

  it('decides again with the lock: a holder that read the file before does not undo the decision', async () => {
    const { store, agentDir, file } = open();
    mkdirSync(agentDir);
    writeFileSync(file, '{}');
    const lock = await acquireLock(file);

    store.decideNow([{ path: '/no-such/b', decision: true }]);
    writeFileSync(file, '{"/no-such/a": true}');
    await lock.release();

    await until(() => store.isTrusted('/no-such/b') === true);
    expect(store.isTrusted('/no-such/a')).toBe(true);
  });

  it('loses no concurrent decision', async () => {
    const { agentDir, file } = open();
    const folders = Array.from({ length: 20 }, (_, index) => `/no-such/${index}`);

    await Promise.all(folders.map((folder) => new TrustStore(agentDir).decide(folder, true)));

    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')))).toHaveLength(folders.length);
  });

  it('ignores keys such as __proto__', () => {
    const { store, agentDir, file } = open();
    mkdirSync(agentDir);
    writeFileSync(file, '{"__proto__": {"/no-such/srv": true}, "/no-such/opt": "true"}');

    expect(store.isTrusted('/no-such/srv')).toBeUndefined();
    expect(store.isTrusted('/no-such/opt')).toBeUndefined();
  });
});
