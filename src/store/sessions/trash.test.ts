import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { line, linesOf, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { SessionLog } from './session-log.ts';
import { moveToTrash, restoreFromTrash, TRASH_FOLDER } from './trash.ts';

it('a session returns from the trash unchanged', async () => {
  const path = writeSession(join(tempFolder(), 's.jsonl'), line('a', null));
  const before = linesOf(path);

  const trashed = await moveToTrash(path);
  const isMoved = !existsSync(path);
  const restored = await restoreFromTrash(trashed);

  expect({ trashed, isGone: isMoved, restored }).toEqual({
    trashed: join(dirname(path), TRASH_FOLDER, 's.jsonl'),
    isGone: true,
    restored: path,
  });
  expect(linesOf(path)).toEqual(before);
});

it('a restored session gets a new name if its path is taken', async () => {
  const path = writeSession(join(tempFolder(), 's.jsonl'), line('a', null, 'old'));
  const trashed = await moveToTrash(path);
  writeSession(path, line('a', null, 'new'));

  const restored = await restoreFromTrash(trashed);

  expect(restored).toBe(join(dirname(path), 's.2.jsonl'));
  expect([linesOf(path)[1], linesOf(restored)[1]]).toEqual([line('a', null, 'new'), line('a', null, 'old')]);
});

it('an open session is not moved, and a failed move releases the lock', async () => {
  const folder = tempFolder();
  const path = writeSession(join(folder, 's.jsonl'), line('a', null));
  const log = await SessionLog.open(path);

  await expect(moveToTrash(path)).rejects.toMatchObject({ code: 'session_in_use', holder: process.pid });
  await log.close();
  writeFileSync(join(folder, TRASH_FOLDER), 'a file where the trash should be');
  await expect(moveToTrash(path)).rejects.toThrow();

  expect(readdirSync(folder).sort()).toEqual([TRASH_FOLDER, 's.jsonl']);
  await (await SessionLog.open(path)).close();
});
