import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { acquireLock } from '../system/files/lock.ts';
import { deviceId } from './change-settings.ts';
import { tempFolder } from './testing/temp-folder.ts';

const OTHER = '0198f0a0-0000-4000-8000-000000000000';

it('concurrent calls return the device id that is stored', async () => {
  const agentDir = tempFolder();

  const ids = await Promise.all([deviceId(agentDir), deviceId(agentDir), deviceId(agentDir)]);

  const stored = JSON.parse(readFileSync(join(agentDir, 'settings.json'), 'utf8'));
  expect(new Set(ids)).toEqual(new Set([stored.deviceId]));
});

it('the device id that another process stores first is kept', async () => {
  const agentDir = tempFolder();
  const path = join(agentDir, 'settings.json');
  const lock = await acquireLock(path);
  const waiting = deviceId(agentDir);

  writeFileSync(path, JSON.stringify({ deviceId: OTHER, theme: 'dark' }));
  await lock.release();

  expect(await waiting).toBe(OTHER);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ deviceId: OTHER, theme: 'dark' });
});
