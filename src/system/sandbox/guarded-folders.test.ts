import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFifo } from '../../../test/support/processes/fifo.ts';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../testing/confined.ts';
import { git, inRepository, makeRepository } from '../testing/repository.ts';

const open = confinedSessions(scratchFolder());

const isMarker = (name: string) => name.startsWith('.tau-sandbox-');

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
        makeRepository(join(home, 'main'));
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
      const gate = makeFifo(join(first.cwd, 'gate'));
      const { group, printed } = await second.start(`read -r _ < gate; { ${attack}; } 2>&1`);
      const goOn = await gate.reader();

      await first.sandbox.close();
      await goOn();
      await group.exited;
      const isPlanted = ['.pi/extensions', '.git/modules/evil'].some((name) => existsSync(join(first.cwd, name)));
      const common = git(first.cwd, 'rev-parse', '--git-common-dir');
      await second.sandbox.close();

      expect(printed()).toMatch(/Read-only|denied/);
      expect(isPlanted).toBe(false);
      expect(common).toMatch(/\.git\n$/);
      expect(readdirSync(first.cwd).sort()).toEqual(['.git', 'file', 'gate']);
      expect(readdirSync(join(first.cwd, '.git'))).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/commondir|config.worktree|modules|worktrees/)]),
      );
      expect(readdirSync(join(first.cwd, '.git/hooks')).filter((name) => !name.endsWith('.sample'))).toEqual([]);
    },
  );

  it('are protected again after the user has removed what the sandbox made', async () => {
    const { run, cwd, sandbox } = await open({ ...inRepository, options: { gitWrite: true } });
    await run('true');
    git(cwd, 'clean', '-fdq');
    rmSync(join(cwd, '.git/commondir'), { force: true });

    const { output } = await run('echo x > .pi/evil; echo x > .git/commondir');
    await sandbox.close();

    expect(output.match(/Read-only file system/g)).toHaveLength(2);
    expect(readdirSync(cwd).sort()).toEqual(['.git', 'file']);
    expect(existsSync(join(cwd, '.git/commondir'))).toBe(false);
  });

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
        makeRepository(join(home, 'main'));
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
        makeRepository(join(home, 'work'));
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
