import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder } from '../../../system/testing/script.ts';
import { OutputLog } from './output-log.ts';

const root = temporaryFolder();
const start = processes();
let folder = '';
let folders = 0;

beforeEach(() => {
  folder = join(root, `${++folders}`);
  mkdirSync(folder);
  vi.stubEnv('TMPDIR', folder);
});

afterEach(() => vi.unstubAllEnvs());

it('a log is private to its owner and persists', () => {
  const log = OutputLog.create();
  log.append(Buffer.from('all '));
  log.append(Buffer.from('of it'));
  log.close();
  log.append(Buffer.from(', no more'));

  const path = log.path ?? '';
  expect(readdirSync(folder)).toEqual([expect.stringMatching(/^pi-bash-[0-9a-f]{16}\.log$/)]);
  expect([join(folder, readdirSync(folder)[0] ?? ''), statSync(path).mode & 0o777]).toEqual([path, 0o600]);
  expect(readFileSync(path, 'utf8')).toBe('all of it');
});

it('a log without a folder reports the write error', () => {
  vi.stubEnv('TMPDIR', join(folder, 'missing'));

  const log = OutputLog.create();
  log.append(Buffer.from('gone'));
  log.close();

  expect([log.path, log.writeError]).toEqual([undefined, expect.stringContaining('ENOENT')]);
});

it('a log that the disk rejects is removed and reports the write error', async () => {
  const script = compile(
    root,
    `import { OutputLog } from '../agent/tools/bash/output-log.ts';
     const log = OutputLog.create();
     for (let times = 0; times < 10; times++) log.append(Buffer.alloc(10_000));
     console.log(log.path, log.writeError);`,
  );
  const child = start('bash', ['-c', 'ulimit -f 64; exec "$0" "$1"', process.execPath, script]);

  expect(await Promise.all([readAll(child.stdout), exitOf(child)])).toEqual([
    'undefined EFBIG: file too large, write\n',
    0,
  ]);
  expect(readdirSync(folder)).toEqual([]);
});
