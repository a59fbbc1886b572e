import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { changeJsonFile } from './change-json-file.ts';
import { tempFolder } from './testing/temp-folder.ts';

it('a change that loses its lock folder each time fails and writes nothing', async () => {
  const path = join(tempFolder(), 'auth.json');
  let calls = 0;
  const change = () => {
    if (++calls > 100) throw new Error('It is called without a limit');
    rmSync(`${path}.lock`, { recursive: true });
    return { calls };
  };

  const changed = changeJsonFile(path, change, { name: 'auth.json', lock: 'folder' });

  await expect(changed).rejects.toThrow('auth.json: its lock was lost during each change');
  expect(existsSync(path)).toBe(false);
});
