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
import { inRepository, makeRepository } from '../testing/repository.ts';

const base = scratchFolder();
const open = confinedSessions(base);

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
    makeRepository(other);
    const { run, cwd } = await open({ options: {}, prepare: () => undefined });
    const wide = await open({ options: { cwd, writable: [cwd, other] } });

    const { output } = await wide.run(
      `echo two > ${other}/new && cat ${other}/new; echo x > ${other}/.git/config; mv ${other}/.git ${other}/g`,
    );

    expect(output).toMatch(/^two\n.*Read-only file system\n.*Device or resource busy/s);
    expect((await run(`echo x > ${other}/new`)).output).toContain('Read-only');
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
