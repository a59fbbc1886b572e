import { join } from 'node:path';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { changeJsonFile } from './change-json-file.ts';
import { readJsonObject } from './json-file.ts';
import { newUuid } from './sessions/random-id.ts';
import type { Settings } from './settings.ts';

/** Writes some of the user's settings and leaves all others unchanged. */
export function changeSettings(agentDir: string, changed: Settings): Promise<void> {
  return changeJsonFile(join(agentDir, 'settings.json'), (before) => mergeGroups(before, changed as JsonObject), {
    name: 'settings.json',
  });
}

/** Groups of settings are merged, not replaced. */
function mergeGroups(before: JsonObject, changed: JsonObject): JsonObject {
  const entries = Object.entries(changed).map(([name, value]): [string, unknown] => {
    const old = before[name];
    return [name, isObject(old) && isObject(value) ? { ...old, ...value } : value];
  });
  return { ...before, ...Object.fromEntries(entries) };
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A stable id of this installation, which pi keeps in settings.json, too. */
export async function deviceId(agentDir: string): Promise<string> {
  const path = join(agentDir, 'settings.json');
  const stored = deviceIdIn(readJsonObject(path) ?? {});
  if (stored !== undefined) return stored;
  let id = newUuid();
  await changeJsonFile(
    path,
    (before) => {
      const other = deviceIdIn(before);
      id = other ?? id;
      return other === undefined ? { ...before, deviceId: id } : before;
    },
    { name: 'settings.json' },
  );
  return id;
}

function deviceIdIn({ deviceId: id }: JsonObject): string | undefined {
  return typeof id === 'string' && UUID.test(id) ? id.toLowerCase() : undefined;
}
