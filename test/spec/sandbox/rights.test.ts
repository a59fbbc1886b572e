import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { bash, openConfined, resultOf } from '../../support/sandbox/confined-agent.ts';
import { FILE_SECRET, makeRepository, newUserHome, writeSecrets } from '../../support/sandbox/user-home.ts';
import { itConfined } from '../../support/sandbox/working-sandbox.ts';

// The user who runs the tests under another number, without any right of root.
const AS_PLAIN_USER = ['unshare', '--user', '--map-user=1234', '--map-group=1234', '--'];

const itAsRoot = process.getuid?.() === 0 ? itConfined : itConfined.skip;

const REMOUNTS = [
  'mount -o remount,rw,bind /',
  'mount -o remount,rw /',
  'unshare -Urm mount -o remount,rw,bind /',
  'umount ~/.ssh',
  'unshare -Urm umount ~/.ssh',
  'mount --bind /tmp ~',
  'nsenter -t 1 -m -U --preserve-credentials touch ~/escaped',
];

for (const [who, wrapper, test] of [
  ['root', [], itAsRoot],
  ['a plain user', AS_PLAIN_USER, itConfined],
] as const) {
  test(`[A152] a command of ${who} can neither remount the file system nor uncover what is hidden`, async () => {
    const home = newUserHome();
    writeSecrets(home);
    const attempts = REMOUNTS.map((remount) => `${remount}; touch ~/escaped; cat ~/.ssh/id_rsa`);

    const { text } = await resultOf(bash(`id -u; { ${attempts.join('; ')}; } 2>&1; exit 0`), { home, wrapper });

    expect(text.split('\n')[0]).toBe(who === 'root' ? '0' : '1234');
    expect(text).not.toContain(FILE_SECRET);
    expect(existsSync(join(home.root, 'escaped'))).toBe(false);
    expect(text).toMatch(/denied|not permitted/);
  });

  test(`[A152] commands of ${who} use git, but cannot commit, and read no secrets`, async () => {
    const home = newUserHome();
    makeRepository(home.cwd);
    const [key] = writeSecrets(home);
    const { run } = await openConfined({
      home,
      wrapper,
      env: { GH_TOKEN: 'env-secret' },
      runs: [
        [bash('git status --short && git log --oneline'), bash('touch new; git add new'), bash(`cat '${key}'; env`)],
      ],
    });

    const [looked, added, secrets] = await run();

    expect(looked).toMatchObject({ isError: false, text: expect.stringContaining('begin') });
    expect(added).toMatchObject({ isError: true, text: expect.stringContaining('Read-only file system') });
    expect(secrets?.text).not.toMatch(/env-secret|a-secret/);
  });
}

itConfined('[A152] a command does not reach a program of the user that listens on a Unix socket', async () => {
  const home = newUserHome();
  mkdirSync(join(home.root, 'run'));
  const { createServer } = await import('node:net');
  const path = join(home.root, 'run/tau.sock');
  let connections = 0;
  const server = createServer(() => ++connections);
  await new Promise<void>((listening) => void server.listen(path, listening));

  const { text } = await resultOf(
    bash(
      `node -e "require('net').connect('${path}').on('error', (e) => console.log(e.code)).on('connect', () => console.log('connected'))"`,
    ),
    { home },
  );
  server.close();

  expect({ text, connections }).toEqual({ text: 'EPERM\n', connections: 0 });
});
