import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { acquireLock } from '../system/files/lock.ts';
import { compile, exitOf, processes } from '../system/testing/script.ts';
import { readCredentials, removeApiKey, removeCredential, storeApiKey, storeSignIn } from './credentials.ts';
import { tempFolder } from './testing/temp-folder.ts';

const start = processes();

function folder(content?: string | object) {
  const agentDir = tempFolder();
  const path = join(agentDir, 'auth.json');
  if (content !== undefined) writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return { agentDir, path, stored: () => JSON.parse(readFileSync(path, 'utf8')) };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('readCredentials', () => {
  it('reads API keys and sign-ins', () => {
    const entries = {
      openai: { type: 'api_key', key: 'sk-1' },
      acme: { type: 'api_key', key: '$KEY', env: { KEY: 'x' } },
      anthropic: { type: 'oauth', access: 'a', refresh: 'r', expires: 5, accountId: 'me' },
    };

    const { credentials, problems } = readCredentials(folder(entries).agentDir);

    expect(Object.fromEntries(credentials)).toEqual(entries);
    expect(problems).toEqual([]);
  });

  it('returns no credentials when there is no file', () => {
    expect(readCredentials(tempFolder())).toEqual({ credentials: new Map(), problems: [] });
  });

  it('ignores each invalid entry alone and does not quote its value', () => {
    const { agentDir } = folder(
      `{"a": "sk-secret", "b": {"type": "api_key"}, "c": {"type": "api_key", "key": ""},
        "d": {"type": "api_key", "key": ["sk-secret"]}, "e": {"type": "sk-secret", "key": "k"}, "f": null,
        "g": {"type": "api_key", "key": "k", "env": {"A": 1}}, "h": {"type": "oauth", "access": "a"},
        "i": {"type": "oauth", "access": "a", "expires": "soon"}, "j": {"key": "k"},
        "__proto__": {"type": "api_key", "key": "odd"}, "good": {"type": "api_key", "key": "k"}}`,
    );

    const { credentials, problems } = readCredentials(agentDir);

    expect([...credentials.keys()]).toEqual(['__proto__', 'good']);
    expect(problems).toEqual([
      'auth.json: a has an unknown shape',
      'auth.json: b.key is required',
      'auth.json: c.key must not be empty',
      'auth.json: d.key must be a string',
      'auth.json: e has an unknown shape',
      'auth.json: f has an unknown shape',
      'auth.json: g.env.A must be a string',
      'auth.json: h.expires is required',
      'auth.json: i.expires must be a number',
      'auth.json: j has an unknown shape',
    ]);
  });

  it.each([
    ['', 'Unexpected end of JSON input'],
    ['[]', 'the file must hold an object'],
    ['{"openai": {"type": "api_key", "key": sk-secret', "Unexpected token 's': not valid JSON"],
    [`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, 'the file is nested more than 50 levels deep'],
    ['\0\u0001', "Unexpected token '\0': not valid JSON"],
  ])('reports one problem for a malformed file (%#)', (content, problem) => {
    expect(readCredentials(folder(content).agentDir)).toEqual({
      credentials: new Map(),
      problems: [`auth.json: ${problem}`],
    });
  });
});

describe('storeApiKey', () => {
  it('creates a file that only its owner can read, and its folder', async () => {
    const agentDir = join(tempFolder(), 'not', 'there');

    await storeApiKey(agentDir, { provider: 'openai', key: 'sk-1' });

    const path = join(agentDir, 'auth.json');
    expect(readFileSync(path, 'utf8')).toBe('{\n  "openai": {\n    "type": "api_key",\n    "key": "sk-1"\n  }\n}\n');
    expect(modeOf(path)).toBe(0o600);
    expect(readdirSync(agentDir)).toEqual(['auth.json']);
  });

  it('[J30] keeps all other entries, known or not, and removes access for other users', async () => {
    const { agentDir, path, stored } = folder(
      '{"anthropic": {"type": "oauth", "access": "ä", "expires": 1.5}, "odd": [null, {"x": 1e3}], "__proto__": {"y": 1}}',
    );
    chmodSync(path, 0o644);

    await storeApiKey(agentDir, { provider: 'openai', key: 'sk-1' });

    expect(Object.entries(stored())).toEqual([
      ['anthropic', { type: 'oauth', access: 'ä', expires: 1.5 }],
      ['odd', [null, { x: 1000 }]],
      ['__proto__', { y: 1 }],
      ['openai', { type: 'api_key', key: 'sk-1' }],
    ]);
    expect(modeOf(path)).toBe(0o600);
  });

  it('replaces a key but not the variables beside it, and a sign-in as a whole', async () => {
    const { agentDir, stored } = folder({
      acme: { type: 'api_key', key: 'old', env: { REGION: 'eu' } },
      anthropic: { type: 'oauth', access: 'a', refresh: 'r', expires: 1 },
    });

    await storeApiKey(agentDir, { provider: 'acme', key: 'new' });
    await storeApiKey(agentDir, { provider: 'anthropic', key: 'sk-ant' });

    expect(stored()).toEqual({
      acme: { type: 'api_key', key: 'new', env: { REGION: 'eu' } },
      anthropic: { type: 'api_key', key: 'sk-ant' },
    });
  });

  it.each(['', '[]', '{"openai": {"type": "api_key", "key": "sk-1"', '"text"'])(
    'does not change a file that holds %j',
    async (content) => {
      const { agentDir, path } = folder(content);

      await expect(storeApiKey(agentDir, { provider: 'openai', key: 'sk-2' })).rejects.toThrow(
        /^auth\.json: .*; it is left as it is$/,
      );

      expect(readFileSync(path, 'utf8')).toBe(content);
      expect(readdirSync(agentDir)).toEqual(['auth.json']);
    },
  );

  it('writes to the target of a symlink, existing or not', async () => {
    const { agentDir, path, stored } = folder();
    mkdirSync(join(agentDir, 'elsewhere'));
    symlinkSync('elsewhere/keys.json', path);

    await storeApiKey(agentDir, { provider: 'openai', key: 'sk-1' });
    chmodSync(join(agentDir, 'elsewhere/keys.json'), 0o640);
    await storeApiKey(agentDir, { provider: 'groq', key: 'sk-2' });

    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(Object.keys(stored())).toEqual(['openai', 'groq']);
    expect(modeOf(join(agentDir, 'elsewhere/keys.json'))).toBe(0o600);
  });

  it('waits until the lock of the file is released', async () => {
    const { agentDir, path, stored } = folder();
    const lock = await acquireLock(path);

    const storing = storeApiKey(agentDir, { provider: 'openai', key: 'sk-1' });
    writeFileSync(path, '{"groq": {"type": "api_key", "key": "theirs"}}');
    await lock.release();
    await storing;

    expect(Object.keys(stored())).toEqual(['groq', 'openai']);
  });

  it('loses nothing when processes write at the same time, one of them through a symlink', async () => {
    const { agentDir, stored } = folder();
    const other = tempFolder();
    symlinkSync(join(agentDir, 'auth.json'), join(other, 'auth.json'));
    const names = Array.from({ length: 15 }, (_, index) => String(index));
    const writer = (prefix: string, folderPath: string) =>
      start(process.execPath, [
        compile(
          agentDir,
          `import { storeApiKey } from '../store/credentials.ts';
           for (const name of ${JSON.stringify(names)})
             await storeApiKey(${JSON.stringify(folderPath)}, { provider: ${JSON.stringify(prefix)} + name, key: 'k' });`,
        ),
      ]);

    const writers = [writer('a', agentDir), writer('b', other)].map(exitOf);
    await Promise.all(names.map((name) => storeApiKey(agentDir, { provider: `c${name}`, key: 'k' })));

    expect(await Promise.all(writers)).toEqual([0, 0]);
    expect(Object.keys(stored()).sort()).toEqual(names.flatMap((n) => [`a${n}`, `b${n}`, `c${n}`]).sort());
  });
});

describe('a credential under an old id of its provider', () => {
  const key = (value: string) => ({ type: 'api_key', key: value });
  const entries = { 'azure-openai-responses': { ...key('old'), env: { REGION: 'eu' } }, openai: key('kept') };

  it('is removed', async () => {
    const { agentDir, stored } = folder(entries);

    expect(await removeCredential(agentDir, 'azure')).toBe(true);

    expect(stored()).toEqual({ openai: key('kept') });
  });

  it('is removed as a key, together with the one under the present id', async () => {
    const { agentDir, stored } = folder({ ...entries, azure: key('new') });

    await removeApiKey(agentDir, 'azure');

    expect(stored()).toEqual({ openai: key('kept') });
  });

  it('is replaced by a key, which keeps the variables', async () => {
    const { agentDir, stored } = folder(entries);

    await storeApiKey(agentDir, { provider: 'azure', key: 'new' });

    expect(stored()).toEqual({ openai: key('kept'), azure: { ...key('new'), env: { REGION: 'eu' } } });
  });

  it('is replaced by a sign-in', async () => {
    const { agentDir, stored } = folder(entries);

    const credential = await storeSignIn(agentDir, 'azure', { access: 'a', expires: Date.now() + 60_000 });

    expect(stored()).toEqual({ openai: key('kept'), azure: credential });
  });
});
