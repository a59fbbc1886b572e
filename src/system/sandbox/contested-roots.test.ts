import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { describeConfined } from '../../../test/support/sandbox/working-sandbox.ts';
import { confinedSessions, scratchFolder } from '../testing/confined.ts';

const open = confinedSessions(scratchFolder());

describeConfined('a folder whose parents another sandbox can change', () => {
  const setup = { folder: 'project/x/docs', options: { changeable: () => () => true } };

  it('is changed by commands like any other', async () => {
    const { run, cwd } = await open({ ...setup, folder: 'project/a b\t/docs' });

    expect(await run('echo one > file; cat file')).toEqual({ code: 0, output: 'one' });
    expect(readFileSync(join(cwd, 'file'), 'utf8')).toBe('one\n');
  });

  it('leads nowhere else when a parent is replaced by a link', async () => {
    const { run, cwd, home } = await open(setup);
    const parent = dirname(cwd);
    mkdirSync(join(home, 'docs'));
    await run('true');
    renameSync(parent, join(home, 'project/y'));
    symlinkSync('..', parent);

    const { code, output } = await run('echo evil > new');

    expect([code, output]).toEqual([126, expect.stringContaining('was replaced while the sandbox was made')]);
    expect(readdirSync(join(home, 'docs'))).toEqual([]);
  });

  it('leads nowhere else while a parent and a link change places again and again', async () => {
    const { run, cwd, home } = await open(setup);
    const parent = dirname(cwd);
    const other = join(home, 'project/y');
    mkdirSync(join(home, 'docs'));
    symlinkSync('..', other);
    await run('true');
    let isOver = false;
    const exchanging = (async () => {
      const third = join(home, 'project/z');
      while (!isOver) {
        for (const [from, to] of [
          [parent, third],
          [other, parent],
          [third, other],
        ] as const)
          renameSync(from, to);
        await new Promise(setImmediate);
      }
    })();

    for (let count = 0; count < 15; count++) await run('echo evil > new').catch(() => undefined);
    isOver = true;
    await exchanging;

    expect(readdirSync(join(home, 'docs'))).not.toContain('new');
  });

  it('may be made again by the user', async () => {
    const { run, cwd } = await open(setup);
    await run('true');
    rmSync(cwd, { recursive: true });
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'file'), '');

    expect(await run('ls; touch more')).toEqual({ code: 0, output: 'file' });
    expect(existsSync(join(cwd, 'more'))).toBe(true);
  });
});
