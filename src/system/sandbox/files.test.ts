import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../testing/confined.ts';

const base = scratchFolder();
const open = confinedSessions(base);

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8', stdio: 'pipe' });

function repository(cwd: string): void {
  mkdirSync(cwd, { recursive: true });
  git(cwd, 'init', '-q');
  writeFileSync(join(cwd, 'file'), 'one\n');
  git(cwd, 'add', '.');
  git(cwd, 'commit', '-qm', 'first');
}

const isMarker = (name: string) => name.startsWith('.tau-sandbox-');

const inRepository = { prepare: ({ cwd }: { cwd: string }) => repository(cwd) };

describeConfined('the files of a confined command', () => {
  it('are its folder and a /tmp that later commands share and the host does not see', async () => {
    const { cwd, run, sandbox } = await open();

    await run('echo a > inside; echo b > /tmp/note-of-tau');

    expect((await run('cat inside /tmp/note-of-tau; echo "$TMPDIR"')).output).toBe('a\nb\n/tmp');
    expect(readFileSync(join(cwd, 'inside'), 'utf8')).toBe('a\n');
    expect(readFileSync(join(sandbox.tmp, 'note-of-tau'), 'utf8')).toBe('b\n');
    expect(existsSync('/tmp/note-of-tau')).toBe(false);
    expect(lstatSync(join(sandbox.tmp, '..')).mode & 0o777).toBe(0o700);
  });

  it.each(['~/.bashrc', '/etc/tau-was-here', '/var/tmp/tau-was-here', '../sibling', '/usr/bin/tau-was-here'])(
    'cannot be written outside: %s',
    async (path) => {
      const { run } = await open();

      const { output, code } = await run(`echo x > ${path}`);

      expect(output).toContain('Read-only file system');
      expect(code).not.toBe(0);
    },
  );

  it('are none to be changed with readOnly, but /tmp', async () => {
    const { run, cwd } = await open({ options: { readOnly: true }, ...inRepository });

    const { output } = await run('echo x > f; cat file; echo y > /tmp/f && cat /tmp/f');

    expect(output).toContain('Read-only file system\none\ny');
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'file']);
  });

  it.each([
    ['the home folder', (home: string) => home],
    ['a folder above home', () => base],
    ['the root', () => '/'],
    ['the temporary folder', () => tmpdir()],
  ])('cannot be written where the session is in %s', async (_what, cwdOf) => {
    const { run, home } = await open();
    const other = await open({ options: { cwd: cwdOf(home), home, writable: [cwdOf(home)] } });

    const { output } = await other.run(`cd ${cwdOf(home)}; echo x > .bashrc; touch ${home}/new; echo done`);

    expect(output).toContain('done');
    expect([
      existsSync(join(home, '.bashrc')),
      existsSync(join(home, 'new')),
      existsSync(join(tmpdir(), '.bashrc')),
    ]).toEqual([false, false, false]);
    expect((await run('true')).code).toBe(0);
  });

  it('can be in other writable folders, whose .git stays read-only', async () => {
    const other = join(base, 'other');
    repository(other);
    const { run, cwd } = await open({ options: {}, prepare: () => undefined });
    const wide = await open({ options: { cwd, writable: [cwd, other] } });

    const { output } = await wide.run(
      `echo two > ${other}/new && cat ${other}/new; echo x > ${other}/.git/config; mv ${other}/.git ${other}/g`,
    );

    expect(output).toMatch(/^two\n.*Read-only file system\n.*Device or resource busy/s);
    expect((await run(`echo x > ${other}/new`)).output).toContain('Read-only');
  });
});

describeConfined('.git and .pi', () => {
  it('can be read: status, log and diff work', async () => {
    const { run, cwd } = await open(inRepository);
    writeFileSync(join(cwd, 'file'), 'two\n');

    const { output } = await run(
      'git config --global --add safe.directory "*" 2>/dev/null; git status --short; git log --format=%s; git diff --stat',
    );

    expect(output).toMatch(/^ ?M file\nfirst\n/);
    expect(output).toContain('1 file changed');
  });

  it.each([
    ['a hook', 'echo evil > .git/hooks/pre-commit'],
    ['the configuration', 'git config core.fsmonitor evil'],
    ['commondir', 'echo ../evil > .git/commondir'],
    ['a rename of .git', 'mv .git moved && mkdir .git'],
    ['removal', 'rm -rf .git'],
    ['a commit', 'echo x >> file; git commit -qam second'],
    ['settings', 'echo {} > .pi/settings.json'],
    ['a rename of .pi', 'mv .pi moved && mkdir .pi'],
    ['a remount', 'mount -o remount,rw,bind .git; mount -o remount,rw,bind /; echo x > .git/config'],
    ['an unmount', 'umount .git; umount -l .git; echo x > .git/config'],
    [
      'a remount in namespaces of its own',
      'unshare -Urm sh -c "mount -o remount,rw,bind .git; umount .git; echo x > .git/config"',
    ],
    ['a bind mount in namespaces of its own', 'unshare -Urm sh -c "mount --bind . /mnt; echo x > /mnt/.git/config"'],
    [
      'a recursive bind mount in namespaces of its own',
      'unshare -Urm sh -c "mount --rbind . /mnt; umount -l /mnt/.git; echo x > /mnt/.git/config"',
    ],
    [
      'an overlay',
      'unshare -Urm sh -c "mkdir /tmp/w; mount -t overlay -o lowerdir=/mnt,upperdir=$PWD/.git,workdir=/tmp/w o /mnt; echo x > /mnt/config"',
    ],
    ['a hard link', 'ln .git/config c && echo x > c'],
    ['a link', 'ln -s .git g; echo x > g/config'],
  ])('do not change by %s', async (_what, attack) => {
    const { run, cwd } = await open(inRepository);
    const before = git(cwd, 'config', '--list', '--local');

    const { code } = await run(`${attack} || exit 9; exit 9`);

    expect(code).toBe(9);
    expect(git(cwd, 'config', '--list', '--local')).toBe(before);
    expect(git(cwd, 'log', '--format=%s')).toBe('first\n');
    expect(existsSync(join(cwd, '.git/commondir'))).toBe(false);
    expect(readdirSync(join(cwd, '.pi')).filter((name) => !isMarker(name))).toEqual([]);
    expect(readdirSync(join(cwd, '.git/hooks')).every((name) => name.endsWith('.sample'))).toBe(true);
  });

  it('are protected from the second command on where the first has made them', async () => {
    const { run } = await open({ folder: 'a folder\twith blanks' });
    await run('git init -q .');

    const { output } = await run('echo x > .git/config; mv .git g; echo ok > new; cat new');

    expect(output).toMatch(/Read-only[\s\S]*busy\nok$/);
  });

  it('are protected in a worktree, where .git is a file', async () => {
    const { run, cwd, home } = await open({
      prepare: ({ home, cwd }) => {
        repository(join(home, 'main'));
        git(join(home, 'main'), 'worktree', 'add', '-q', '-f', cwd);
      },
    });
    const before = readFileSync(join(cwd, '.git'), 'utf8');

    const { output } = await run(
      'git status --short; git log --format=%s; echo x > .git; mv .git g; echo ok > new; cat new',
    );

    expect(output).toMatch(/^first\n/);
    expect(output).toMatch(/\nok$/);
    expect(readFileSync(join(cwd, '.git'), 'utf8')).toBe(before);
    expect(git(join(home, 'main'), 'log', '--format=%s')).toBe('first\n');
  });

  it('are missing without harm: the folder is as before at the end, and a new repository is protected from the next command on', async () => {
    const { run, cwd, sandbox } = await open();

    expect((await run('true')).code).toBe(0);
    expect((await run('git init -q . && ls -A')).output).toBe('.git\n.pi');
    expect((await run('git config core.fsmonitor evil; echo $?')).output).toMatch(/[^0]$/);
    await sandbox.close();

    expect(readdirSync(cwd)).toEqual(['.git']);
  });

  it.each([
    ['.pi', {}, 'mkdir -p .pi/extensions'],
    ['.git', { gitWrite: true }, 'echo ../evil > .git/commondir; mkdir -p .git/modules/evil'],
  ])(
    'stay protected in a command that runs when another session in the folder ends: %s',
    async (_what, options, attack) => {
      const first = await open({ ...inRepository, options });
      await first.run('true');
      const second = await open({ beside: first, options });
      const go = join(first.cwd, 'go');
      const { group, printed } = await second.start(
        `touch started; until [ -e go ]; do sleep 0.01; done; { ${attack}; } 2>&1`,
      );
      await expect.poll(() => existsSync(join(first.cwd, 'started'))).toBe(true);

      await first.sandbox.close();
      writeFileSync(go, '');
      await group.exited;
      const isPlanted = ['.pi/extensions', '.git/modules/evil'].some((name) => existsSync(join(first.cwd, name)));
      const common = git(first.cwd, 'rev-parse', '--git-common-dir');
      await second.sandbox.close();

      expect(printed()).toMatch(/Read-only|denied/);
      expect(isPlanted).toBe(false);
      expect(common).toMatch(/\.git\n$/);
      expect(readdirSync(first.cwd).sort()).toEqual(['.git', 'file', 'go', 'started']);
      expect(readdirSync(join(first.cwd, '.git'))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/commondir|config.worktree|modules|worktrees/)]),
      );
      expect(readdirSync(join(first.cwd, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([]);
    },
  );

  it('keep what the user put in an empty .pi', async () => {
    const { run, cwd, sandbox } = await open();
    await run('true');
    writeFileSync(join(cwd, '.pi/settings.json'), '{}');

    await sandbox.close();

    expect(readdirSync(join(cwd, '.pi'))).toEqual(['settings.json']);
  });

  it('make their folder read-only where they are links, which a command could replace', async () => {
    const { run, cwd } = await open({
      prepare: ({ home, cwd }) => {
        repository(join(home, 'main'));
        symlinkSync(join(home, 'main/.git'), join(cwd, '.git'));
      },
    });

    expect((await run('rm .git; echo x > new')).output).toMatch(/Read-only.*Read-only/s);
    expect(lstatSync(join(cwd, '.git')).isSymbolicLink()).toBe(true);
  });

  it('are protected above the folder of the session, which cannot be renamed', async () => {
    const { run, cwd } = await open({
      prepare: ({ home }) => {
        mkdirSync(join(home, 'work/packages/a'), { recursive: true });
        repository(join(home, 'work'));
      },
      folder: 'work/packages/a',
      options: {},
    });
    const root = join(cwd, '../..');
    const wide = await open({ options: { cwd, writable: [root, cwd] } });

    const { output } = await wide.run(
      `cd ${root}; echo x > .git/config; mv packages p; mkdir ${cwd}/.pi/x; mv ${cwd} b; echo ok > packages/new; cat packages/new`,
    );

    expect(output.split('\n').map((line) => line.replace(/.*: /, ''))).toEqual([
      'Read-only file system',
      'Device or resource busy',
      'Read-only file system',
      'Read-only file system',
      'ok',
    ]);
    expect((await run('true')).code).toBe(0);
  });
});

describeConfined('gitWrite', () => {
  const options = { gitWrite: true };

  it('lets commands commit and branch, and leaves a sound repository without stubs', async () => {
    const { run, cwd, sandbox } = await open({ ...inRepository, options });
    const config = '-c user.name=a -c user.email=a@b';

    const { code, output } = await run(
      `echo x >> file; git ${config} commit -qam second && git branch b && git gc -q && git stash list; git log --format=%s`,
    );
    expect(existsSync(join(cwd, '.git/commondir'))).toBe(true);
    expect(git(cwd, 'log', '--format=%s')).toBe('second\nfirst\n');
    await sandbox.close();

    expect([code, output]).toEqual([0, 'second\nfirst']);
    git(cwd, 'fsck', '--strict');
    expect(readdirSync(join(cwd, '.git'))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/commondir|config.worktree|modules|worktrees/)]),
    );
  });

  it.each([
    'echo evil > .git/hooks/pre-commit',
    'git config core.fsmonitor evil',
    'echo ../evil > .git/commondir',
    'rm .git/commondir',
    'mv .git g',
    'mv .git/hooks .git/h',
    'echo x > .git/config.worktree',
    'mkdir -p .git/modules/x',
    'git worktree add -q ../w',
  ])('refuses: %s', async (attack) => {
    const { run, cwd } = await open({ ...inRepository, options });
    const before = git(cwd, 'config', '--list', '--local');

    expect((await run(attack)).code).not.toBe(0);
    expect(git(cwd, 'config', '--list', '--local')).toBe(before);
  });
});

describeConfined('hidden files', () => {
  const secret = 'the-secret-of-the-user';
  const prepare = ({ home, cwd }: { home: string; cwd: string }) => {
    for (const folder of ['.ssh', '.config/gh', 'elsewhere', 'agent/bin', 'agent/x'])
      mkdirSync(join(home, folder), { recursive: true });
    writeFileSync(join(home, '.ssh/id_rsa'), secret);
    writeFileSync(join(home, '.config/gh/hosts.yml'), secret);
    writeFileSync(join(home, '.netrc'), secret);
    writeFileSync(join(home, 'elsewhere/key'), secret);
    writeFileSync(join(home, 'agent/auth.json'), secret);
    writeFileSync(join(home, 'agent/bin/tool'), '#!/bin/sh\necho tool runs', { mode: 0o755 });
    symlinkSync(join(home, 'elsewhere'), join(home, '.gnupg'));
    mkdirSync(join(cwd, 'config'));
    writeFileSync(join(cwd, 'config/.env'), secret);
  };
  const openWithSecrets = async () => {
    const probe = await open();
    const { home, cwd } = probe;
    prepare(probe);
    return open({
      options: {
        home,
        cwd,
        writable: [cwd],
        hidden: [join(home, 'agent'), join(cwd, 'config/.env'), join(home, 'missing')],
      },
    }).then((session) => ({ ...session, home, cwd }));
  };

  it.each([
    [
      'their names',
      'cat $HOME/.ssh/id_rsa $HOME/.netrc $HOME/.config/gh/hosts.yml $HOME/agent/auth.json $HOME/.gnupg/key config/.env',
    ],
    ['the target of a hidden link', 'cat $HOME/elsewhere/key'],
    ['a link', 'ln -s $HOME/.ssh s; cat s/id_rsa; ln -s $HOME/.netrc n; cat n'],
    ['a hard link', 'ln $HOME/.netrc h; cat h'],
    ['an unmount', 'umount -l $HOME/.ssh; umount $HOME/.netrc; cat $HOME/.ssh/id_rsa $HOME/.netrc'],
    [
      'an unmount in namespaces of its own',
      'unshare -Urm sh -c "umount -l $HOME/.ssh; cat $HOME/.ssh/id_rsa; umount $HOME/.netrc; cat $HOME/.netrc"',
    ],
    [
      'a mount of their parent',
      'unshare -Urm sh -c "mount --bind $HOME /mnt; cat /mnt/.ssh/id_rsa /mnt/.netrc; mount --rbind $HOME /mnt; umount -l /mnt/.ssh; cat /mnt/.ssh/id_rsa"',
    ],
    [
      'an overlay of their parent',
      'unshare -Urm sh -c "mount -t overlay -o lowerdir=$HOME:/usr/lib o /mnt; cat /mnt/.ssh/id_rsa /mnt/.netrc"',
    ],
    ['the root of other processes', 'cat /proc/[0-9]*/root$HOME/.ssh/id_rsa /proc/[0-9]*/cwd/../.netrc'],
    ['a rename of their folder', 'mv config c; cat c/.env config/.env'],
    [
      'another pivot',
      'unshare -Urm --propagation private sh -c "mkdir /tmp/p; mount -t tmpfs t /tmp/p; mkdir /tmp/p/o; cd /tmp/p; pivot_root . o; cat o$HOME/.ssh/id_rsa o/../$HOME/.netrc"',
    ],
  ])('are not read by %s', async (_what, attack) => {
    const { run, home } = await openWithSecrets();

    const first = await run(attack, { HOME: home });
    const second = await run(`cat $HOME/.ssh/id_rsa $HOME/.netrc config/.env c/.env`, { HOME: home });

    expect(first.output + second.output).not.toContain(secret);
    expect(first.code).not.toBe(126);
  });

  it('are left out of a folder whose programs are in PATH', async () => {
    const { run, home } = await openWithSecrets();

    const { output } = await run('tool; ls -A $HOME/agent; echo x > $HOME/agent/bin/tool', {
      HOME: home,
      PATH: `${home}/agent/bin:${process.env['PATH']}`,
    });

    expect(output).toMatch(/^tool runs\nbin\n.*Read-only/);
  });

  it('do not hide the folder of a session that lies among them', async () => {
    const { home } = await openWithSecrets();
    const cwd = join(home, 'agent/x');
    const { run } = await open({ options: { home, cwd, writable: [cwd], hidden: [join(home, 'agent')] } });

    const { output } = await run(`cd ${cwd}; echo y > new; cat new; ls -A ..; cat ../auth.json`);

    expect(output).toMatch(/^y\nx\n.*No such file/);
  });

  it('are not uncovered by a link that a running command puts in place of .git', async () => {
    const { run, start, home, cwd } = await openWithSecrets();
    const swapping = await start(`while :; do ln -sfn ${home}/.ssh .git; rm -f .git; mkdir .git; rmdir .git; done`);

    const outputs: string[] = [];
    for (let round = 0; round < 40; round++) outputs.push((await run(`cat ${home}/.ssh/id_rsa`)).output);
    await swapping.group.kill();

    expect(outputs.join('')).not.toContain(secret);
    expect(realpathSync(cwd)).toBe(cwd);
  });

  it('are not uncovered by a link to the /tmp of the machine in place of .git', async () => {
    const { run, start, cwd } = await open();
    const host = mkdtempSync('/tmp/tau-host-');
    const up = relative(cwd, '/');
    const swap = `"${process.execPath}" -e "const fs = require('node:fs'); for (;;) { fs.renameSync('d', '.git'); fs.renameSync('.git', 'd'); fs.symlinkSync('${up}/tmp', '.git'); fs.unlinkSync('.git'); }"`;
    await run('mkdir d');
    const swapping = await start(swap);

    const outputs: string[] = [];
    for (let round = 0; round < 80; round++) outputs.push((await run('ls /tmp')).output);
    await swapping.group.kill();
    rmSync(host, { recursive: true });

    expect(outputs.join('')).not.toContain(basename(host));
  });
});
