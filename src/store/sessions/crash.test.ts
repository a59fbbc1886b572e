import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { ids, idsTo, user } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { SessionLog } from './session-log.ts';

/** Appends until it is killed and prints the id of each entry once `append` returned. */
const PROGRAM = `
  import { writeSync } from 'node:fs';
  import { SessionLog } from './session-log.ts';
  const [, , path, size] = process.argv;
  const log = await SessionLog.open(path, { create: { cwd: '/srv/shop' } });
  writeSync(1, 'open\\n');
  for (let count = 0; size !== '0'; count++) {
    const text = 'ä'.repeat(count % 7 === 0 ? Number(size) * 100 : Number(size));
    const { id } = log.append({ type: 'message', message: { role: 'user', content: text, timestamp: count } });
    writeSync(1, id + '\\n');
  }
  setInterval(() => {}, 1000);
`;

let program = '';

beforeAll(() => {
  const built = buildSync({
    stdin: { contents: PROGRAM, resolveDir: dirname(fileURLToPath(import.meta.url)), loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    write: false,
  });
  program = built.outputFiles[0]?.text ?? '';
});

function start(file: string, size: number): ChildProcessByStdio<null, Readable, null> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, '-', file, String(size)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Kills the child once it has printed `count` lines and returns all printed lines. */
async function killAfter(child: ChildProcessByStdio<null, Readable, null>, count: number): Promise<string[]> {
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk;
    if (printed.split('\n').length > count) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return printed.split('\n').slice(0, -1);
}

describe('a process that is killed', () => {
  it('has stored every entry that append returned', async () => {
    const file = join(tempFolder(), 's.jsonl');
    const acknowledged: string[] = [];

    for (let round = 0; round < 20; round++) {
      const [open, ...stored] = await killAfter(start(file, 10 + round * 50), 2 + ((round * 37) % 150));
      expect(open).toBe('open');
      acknowledged.push(...stored);

      const log = await SessionLog.open(file);

      const found = new Set(ids(log));
      expect(acknowledged.filter((id) => !found.has(id))).toEqual([]);
      expect(idsTo(log)).toHaveLength(log.size);
      log.append(user(`round ${round}`));
      await log.close();
    }
  });

  it('releases the session lock at once', async () => {
    const file = join(tempFolder(), 's.jsonl');
    const child = start(file, 0);
    await once(child.stdout, 'data');

    const refused = SessionLog.open(file);

    await expect(refused).rejects.toMatchObject({
      code: 'session_in_use',
      holder: child.pid,
      message: `Session is in use by process ${child.pid}: ${file}`,
    });
    child.kill('SIGKILL');
    await once(child, 'close');
    const log = await SessionLog.open(file);
    await log.close();
  });
});
