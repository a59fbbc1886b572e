import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { programCheck } from './program-check.ts';

/** A workspace beside a folder of programs. */
function folders() {
  const root = tempFolder();
  const [workspace, programs] = [join(root, 'workspace'), join(root, 'programs')];
  for (const folder of [workspace, programs]) mkdirSync(folder);
  const add = (folder: string, name: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), '');
    chmodSync(join(folder, name), 0o755);
  };
  const check = (path: string, name: string) =>
    programCheck({
      path: () => path,
      writable: [workspace],
      isLed: (led) => led.startsWith(`${workspace}/link/`),
    })(name);
  return { workspace, programs, add, check };
}

it('trusts a program in a folder of PATH that commands cannot change, unless one comes before that they can', () => {
  const { workspace, programs, add, check } = folders();
  add(programs, 'git');

  expect(check(`/none:${programs}`, 'git')).toBe(true);
  expect(check(programs, 'gitk')).toBe(false);
  expect(check(`${workspace}/bin:${programs}`, 'git')).toBe(false);
  expect(check(`bin:${programs}`, 'git')).toBe(false);
});

it('trusts no program behind a link that a command may have made, wherever it leads', () => {
  const { workspace, programs, add, check } = folders();
  add(programs, 'git');
  symlinkSync(programs, join(workspace, 'link'));

  expect(check(`${workspace}/link:${programs}`, 'git')).toBe(false);
  expect(check('', `${workspace}/link/git`)).toBe(false);
  expect(check('', join(programs, 'git'))).toBe(true);
});
