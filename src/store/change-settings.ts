import { join } from 'node:path';
import { isObject, type JsonObject } from '../protocol/json.ts';
import { changeJsonFile } from './change-json-file.ts';
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
