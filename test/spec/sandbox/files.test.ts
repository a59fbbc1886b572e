import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { expect } from 'vitest';
import { openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import {
  bash,
  CONFINED,
  openConfined,
  read,
  resultOf,
  resultsIn,
  write,
} from '../../support/sandbox/confined-agent.ts';
import { newSleep, sleepers } from '../../support/sandbox/sleepers.ts';
import {
  FILE_SECRET,
  newUserHome,
  SECRET_VARIABLES,
  writeFile,
  writeSecrets,
} from '../../support/sandbox/user-home.ts';
import { itConfined } from '../../support/sandbox/working-sandbox.ts';

itConfined('[A143] commands write in the workspace and in a /tmp of the session, and not beside it', async () => {
  const home = newUserHome();
  const name = `seen-${basename(home.root)}`;
  const { run, close } = await openConfined({
    home,
    runs: [
      [
        bash(
          `echo inside > file; echo shared > /tmp/${name}; pwd; echo escaped > ../beside; echo x > /var/tmp/${name}`,
        ),
        bash(`cat file /tmp/${name}`),
      ],
    ],
  });

  const [written, readBack] = await run();

  expect(written).toMatchObject({ isError: true, text: expect.stringContaining(`${home.cwd}\n`) });
  expect(written?.text.match(/Read-only file system/g)).toHaveLength(2);
  expect(readBack).toEqual({ isError: false, text: 'inside\nshared\n' });
  expect(readFileSync(join(home.cwd, 'file'), 'utf8')).toBe('inside\n');
  expect([`/tmp/${name}`, `/var/tmp/${name}`, join(home.root, 'beside')].filter((path) => existsSync(path))).toEqual(
    [],
  );
  await close();
});

itConfined('[A143] the file tools and commands have the same /tmp', async () => {
  const home = newUserHome();
  const name = `shared-${basename(home.root)}`;
  const { run, questions } = await openConfined({
    home,
    args: [...CONFINED, '--tools', 'read,write,edit,bash,ls,grep,find'],
    runs: [
      [
        write(`/tmp/${name}/by-write`, 'from write\n'),
        bash(`cat /tmp/${name}/by-write; echo from bash > /tmp/${name}/by-bash`),
        read(`/tmp/${name}/by-bash`),
        { name: 'edit', arguments: { path: `/tmp/${name}/by-bash`, edits: [{ oldText: 'bash', newText: 'edit' }] } },
        { name: 'ls', arguments: { path: `/tmp/${name}` } },
        { name: 'grep', arguments: { path: `/tmp/${name}`, pattern: 'from' } },
        { name: 'find', arguments: { path: `/tmp/${name}`, pattern: '*' } },
      ],
    ],
  });

  const [written, byBash, readBack, edited, listed, grepped, found] = await run();

  expect([written, edited].map((result) => result?.isError)).toEqual([false, false]);
  expect(byBash?.text).toBe('from write\n');
  expect(readBack?.text).toBe('from bash\n');
  for (const result of [listed, found]) expect(result?.text).toMatch(/by-bash[\s\S]*by-write/);
  expect(grepped?.text).toMatch(/from edit[\s\S]*from write|from write[\s\S]*from edit/);
  expect(questions()).toEqual([]);
  expect(existsSync(`/tmp/${name}`)).toBe(false);
});

itConfined('[A156] the file tools reach nothing in the /tmp of the machine, also not through a link', async () => {
  const home = newUserHome();
  const other = mkdtempSync('/tmp/tau-other-session-');
  writeFile(join(other, 'note'), 'of another session\n');
  symlinkSync(other, join(home.cwd, 'link'));
  const { run } = await openConfined({
    home,
    args: [...CONFINED, '--tools', 'read,ls,grep,find'],
    runs: [
      [
        read('link/note'),
        read(`/proc/self/root${other}/note`),
        { name: 'grep', arguments: { path: 'link', pattern: 'another' } },
        { name: 'ls', arguments: { path: 'link' } },
        { name: 'find', arguments: { path: `/proc/self/root${other}`, pattern: '*' } },
      ],
    ],
  });

  const results = await run();
  rmSync(other, { recursive: true });

  expect(results.map(({ isError }) => isError)).toEqual(Array(5).fill(true));
  expect(JSON.stringify(results)).not.toMatch(/of another session|note\\n/);
});

itConfined('[A143] /tmp is another folder in each session, and is gone when the session is left', async () => {
  const home = newUserHome();
  const probe = [bash('echo mine > /tmp/mark'), bash('ls /tmp')];
  const { peer, run, close } = await openConfined({ home, runs: [probe, [bash('ls -A /tmp')]] });

  const [, first] = await run();
  await peer.ok({ type: 'new_session' });
  const [second] = await run();
  const other = await resultOf(bash('ls -A /tmp'), { home });
  await close();

  // A tau that is installed below /tmp is visible there, too.
  expect(first?.text).toMatch(/^mark$/m);
  expect(second?.text).not.toContain('mark');
  expect(other.text).not.toContain('mark');
});

itConfined(
  '[A143] the log of a long output is found by read and by bash under the path that the model gets',
  async () => {
    // The model without a script calls what the prompt names.
    const { peer } = await openTestAgent('stdio', { home: newUserHome(), args: CONFINED });
    const textOf = async (prompt: string) => resultsIn(await peer.run(prompt))[0]?.text ?? '';

    const shortened = await textOf('run `seq -f line-%.0f 5000`');
    const [path = ''] = shortened.match(/\/tmp\/[\w./-]+/) ?? [];
    const byBash = await textOf(`run \`sed -n 17p ${path}\``);
    const byRead = await textOf(`read ${path}`);

    expect(shortened).not.toContain('line-17\n');
    expect(byBash).toBe('line-17\n');
    expect(byRead).toContain('line-17\n');
  },
);

itConfined('[A144] a command reads no credential, no file of the agent folder and no key', async () => {
  const home = newUserHome();
  const paths = writeSecrets(home);
  writeFile(join(home.root, '.profile'), 'an ordinary file');
  const command = [
    `cat ${paths.map((path) => `'${path}'`).join(' ')}`,
    'cat ~/.profile',
    `cat "$PI_SESSION_FILE"; ls -A '${home.agentDir}' ~/.ssh ~/.aws`,
    'env',
    'cat /proc/*/environ',
    `grep -rs "a-secret-[o]f-the-home-folder" ~ /proc/1/root/ /proc/self/root${home.root}`,
  ].join('; ');

  const { text } = await resultOf(bash(`{ ${command}; } 2>&1; exit 0`), { home, env: SECRET_VARIABLES });

  expect(text).not.toContain(FILE_SECRET);
  expect(text).not.toContain('env-secret');
  expect(text).toContain('an ordinary file');
  for (const name of Object.keys(SECRET_VARIABLES)) expect(text).not.toMatch(new RegExp(`^${name}=`, 'm'));
  expect(readFileSync(paths[0] ?? '', 'utf8')).toBe(FILE_SECRET);
  expect(sessionFiles(home)).toHaveLength(1);
});

itConfined('[A144] secrets cannot be replaced or removed either', async () => {
  const home = newUserHome();
  const paths = writeSecrets(home);
  const attempts = paths.map((path) => `rm -f '${path}'; echo planted > '${path}'; mv '${dirname(path)}' /tmp/away`);

  await resultOf(bash(`{ ${attempts.join('; ')}; } 2>&1; exit 0`), { home });

  for (const path of paths) expect(readFileSync(path, 'utf8')).toContain(FILE_SECRET);
});

itConfined('[A144] settings name further files to hide, and variables to pass', async () => {
  const home = newUserHome();
  writeFile(join(home.root, '.secrets/token'), FILE_SECRET);
  const settings = { sandbox: { hidden: ['~/.secrets'], env: ['AWS_PROFILE'] } };

  const { text } = await resultOf(bash('cat ~/.secrets/token 2>&1; env | grep AWS'), {
    home,
    settings,
    env: SECRET_VARIABLES,
  });

  expect(text).not.toContain(FILE_SECRET);
  expect(text).toMatch(/^AWS_PROFILE=env-secret-6\n$/m);
  expect(text.match(/AWS_/g)).toHaveLength(1);
});

for (const [where, folder] of [
  ['the home folder', ''],
  ['a folder above the home folder', '..'],
] as const) {
  itConfined(`[A150] in ${where} there is no writable folder, and the state says so`, async () => {
    const user = newUserHome();
    const inner = { ...user, root: join(user.root, 'ada'), agentDir: join(user.root, 'ada/.pi/agent') };
    writeFile(join(inner.root, '.bashrc'), '# mine\n');
    const home = { ...inner, cwd: join(inner.root, folder) };
    const { peer, run } = await openConfined({
      home,
      runs: [[bash(`echo evil >> '${inner.root}/.bashrc'; echo x > new; echo y > /tmp/ok && cat /tmp/ok`)]],
    });

    const [result] = await run();

    expect(result?.text.match(/Read-only file system/g)).toHaveLength(2);
    expect(result?.text).toContain('\ny\n');
    expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ status: 'on', writable: [] });
    expect(readFileSync(join(inner.root, '.bashrc'), 'utf8')).toBe('# mine\n');
    expect(existsSync(join(home.cwd, 'new'))).toBe(false);
  });
}

for (const folder of ['.pi/agent/extensions', '.ssh/keys', 'project/.git/hooks', 'project/.pi/extensions'])
  itConfined(`[A150] in ~/${folder} there is no writable folder`, async () => {
    const user = newUserHome();
    writeFile(join(user.root, folder, 'there'), '');
    const home = { ...user, agentDir: join(user.root, '.pi/agent'), cwd: join(user.root, folder) };
    const { peer, run } = await openConfined({ home, runs: [[bash('echo x > new')]] });

    const [result] = await run();

    expect(result?.text).toContain('Read-only file system');
    expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ status: 'on', writable: [] });
    expect(readdirSync(home.cwd)).toEqual(['there']);
  });

itConfined('[A150] the state names the folders that commands may change', async () => {
  const home = newUserHome();
  writeFile(join(home.root, 'shared/there'), '');
  const { peer, run } = await openConfined({
    home,
    settings: { sandbox: { writable: ['../shared'] } },
    runs: [[bash('echo x > ../shared/new; echo y > ../other')]],
  });

  const [result] = await run();

  const { sandbox } = await peer.ok({ type: 'get_state' });
  expect(sandbox).toEqual({
    status: 'on',
    engine: 'bubblewrap',
    network: 'ask',
    writable: [home.cwd, join(home.root, 'shared')],
  });
  expect(result?.isError).toBe(true);
  expect(readdirSync(join(home.root, 'shared')).sort()).toEqual(['.pi', 'new', 'there']);
  expect(existsSync(join(home.root, 'other'))).toBe(false);
});

itConfined('[A151] in the mode plan commands change nothing but their /tmp, unasked', async () => {
  const home = newUserHome();
  writeFileSync(join(home.cwd, 'README.md'), 'read me\n');
  const { run, questions } = await openConfined({
    home,
    args: ['--approvals', 'plan', '--sandbox', 'required'],
    runs: [
      [bash('echo x > f; cat README.md; echo note > /tmp/note; cat /tmp/note'), bash('cat /tmp/note; rm README.md')],
    ],
  });

  const [first, second] = await run();

  expect(first).toMatchObject({
    isError: false,
    text: expect.stringMatching(/Read-only file system\nread me\nnote\n$/),
  });
  expect(second).toMatchObject({ isError: true, text: expect.stringMatching(/^note\n[\s\S]*Read-only file system/) });
  expect(readdirSync(home.cwd)).toEqual(['README.md']);
  expect(questions()).toEqual([]);
});

itConfined('[A151] a change to the mode plan takes the writable folders away, and back', async () => {
  const { peer, run, home } = await openConfined({
    args: ['--sandbox', 'required'],
    runs: [[bash('touch a')], [bash('touch b')], [bash('touch c')]],
  });

  await run();
  await peer.ok({ type: 'set_approval_mode', mode: 'plan' });
  const [planned] = await run();
  await peer.ok({ type: 'set_approval_mode', mode: 'auto' });
  await run();

  expect(planned?.text).toContain('Read-only file system');
  expect(readdirSync(home.cwd).filter((name) => name !== '.pi')).toEqual(['a', 'c']);
});

itConfined('[A151] a change to the mode plan ends the processes that could still change files', async () => {
  const sleep = newSleep();
  const { peer, run } = await openConfined({
    args: ['--sandbox', 'required'],
    runs: [[bash(`env -i setsid sleep ${sleep} & true`)]],
  });
  await run();
  const before = sleepers(sleep);

  await peer.ok({ type: 'set_approval_mode', mode: 'plan' });

  expect([before, sleepers(sleep)]).toEqual([1, 0]);
});

itConfined(
  '[A143] a workspace that a command replaced by a link is read-only for the session that is continued in it',
  async () => {
    const home = newUserHome();
    const outside = join(home.root, 'outside');
    mkdirSync(outside);
    mkdirSync(join(home.cwd, 'sub'));
    const sub = { ...home, cwd: join(home.cwd, 'sub') };
    const first = await openConfined({ home: sub, runs: [[bash('echo first > f')]] });
    await first.run();
    await first.close();
    const [file = ''] = sessionFiles(sub);
    await resultOf(bash(`mv sub old; ln -s ${outside} sub; mkdir vault; ln -s ${outside} shared`), { home });

    const settings = { sandbox: { writable: [join(home.cwd, 'shared')] } };
    const { peer, run } = await openConfined({
      settings,
      home,
      args: [...CONFINED, '--session', file],
      runs: [[bash(`for f in . ${outside} ${home.cwd}/shared; do echo x > $f/evil; done 2>&1; true`)]],
    });
    const [written] = await run();

    expect(written?.text.match(/Read-only file system/g)).toHaveLength(3);
    expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ status: 'on', writable: [] });
    expect(readdirSync(outside)).toEqual([]);
  },
);

itConfined('[A144] a hidden path of the settings stays hidden when a command removes the link to it', async () => {
  const home = newUserHome();
  writeFile(join(home.root, 'vault/key'), FILE_SECRET);
  symlinkSync('../vault', join(home.cwd, 'secrets'));
  const { run } = await openConfined({
    home,
    settings: { sandbox: { hidden: ['secrets'] } },
    runs: [[bash('rm secrets; cat ../vault/key'), bash('cat ../vault/key'), read(join(home.root, 'vault/key'))]],
  });

  const results = await run();

  expect(results.map(({ isError }) => isError)).toEqual([true, true, true]);
  expect(JSON.stringify(results)).not.toContain(FILE_SECRET);
});

itConfined('[A143] a workspace behind a link to a folder that a command replaced by a link is read-only', async () => {
  const home = newUserHome();
  const [outside, named] = [join(home.root, 'outside'), join(home.root, 'named')];
  mkdirSync(outside);
  mkdirSync(join(home.cwd, 'real'));
  symlinkSync(join(home.cwd, 'real'), named);
  const user = { ...home, cwd: named };
  const first = await openConfined({ home: user, env: { PWD: named }, runs: [[bash('echo first > f')]] });
  await first.run();
  await first.close();
  await resultOf(bash(`mv real other; ln -s ${outside} real`), { home });

  const { peer, run } = await openConfined({ home: user, env: { PWD: named }, runs: [[bash('echo x > evil')]] });
  const [written] = await run();

  expect(written?.text).toContain('Read-only file system');
  expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ status: 'on', writable: [] });
  expect(readdirSync(outside)).toEqual([]);
});

itConfined('[A144] a folder of PATH in the workspace that a command made a link shows nothing hidden', async () => {
  const home = newUserHome();
  const [, secret = ''] = writeSecrets(home);
  const { run } = await openConfined({
    home,
    env: { PATH: `${join(home.cwd, 'bin')}:${process.env['PATH']}` },
    runs: [[bash(`ln -s ${dirname(secret)} bin; cat ${secret}`), bash(`cat ${secret}`)]],
  });

  const results = await run();

  expect(results.map(({ isError }) => isError)).toEqual([true, true]);
  expect(JSON.stringify(results)).not.toContain(FILE_SECRET);
});
