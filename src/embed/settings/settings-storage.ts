import { join } from 'node:path';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { changeJsonFile } from '../../store/change-json-file.ts';
import { readJsonObject } from '../../store/json-file.ts';
import type { SettingsScope } from './settings-accessors.ts';

/** Where settings are kept. */
export interface SettingsBackend {
  /** Throws if the settings cannot be parsed. */
  read(scope: SettingsScope): JsonObject;
  change(scope: SettingsScope, change: (before: JsonObject) => JsonObject): Promise<void>;
  /** Undefined unless the settings are in files. */
  path?(scope: SettingsScope): string;
}

/** A storage of pi's shape: `fn` gets the text of a scope and returns the new one, or undefined to leave it. */
export interface SettingsStorage {
  withLock(scope: SettingsScope, fn: (current: string | undefined) => string | undefined): void;
}

/** The settings files of the user and of a project. */
export function fileBackend(cwd: string, agentDir: string): SettingsBackend {
  const paths = { global: join(agentDir, 'settings.json'), project: join(cwd, '.pi', 'settings.json') };
  return {
    path: (scope) => paths[scope],
    read: (scope) => readJsonObject(paths[scope]) ?? {},
    change: (scope, change) => changeJsonFile(paths[scope], change, { name: 'settings.json' }),
  };
}

/** Settings that are lost with the process. */
export function memoryBackend(settings: JsonObject): SettingsBackend {
  const kept: Record<SettingsScope, JsonObject> = { global: structuredClone(settings), project: {} };
  return {
    read: (scope) => structuredClone(kept[scope]),
    change: async (scope, change) => {
      kept[scope] = change(kept[scope]);
    },
  };
}

/** The settings in a storage of the caller. */
export function storageBackend(storage: SettingsStorage): SettingsBackend {
  return {
    read: (scope) => {
      let text: string | undefined;
      storage.withLock(scope, (current) => {
        text = current;
        return undefined;
      });
      return parse(text);
    },
    change: async (scope, change) =>
      storage.withLock(scope, (current) => JSON.stringify(change(parse(current)), null, 2)),
  };
}

function parse(text: string | undefined): JsonObject {
  const value: unknown = text === undefined || text.trim() === '' ? {} : JSON.parse(text);
  if (!isObject(value)) throw new Error('The settings are not an object');
  return value;
}
