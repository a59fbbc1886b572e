import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import schema from '../../../docs/schema.json' with { type: 'json' };
import { check, type Definitions, type Schema } from '../../../src/protocol/check.ts';

const directory = join(import.meta.dirname, '../../../.wire-log');
const definitions = schema.$defs as unknown as Definitions;
const outbound = definitions['outbound'] as Schema;
const seen = new Set<string>();

/** Logs for scripts/coverage.mjs that this command, frame or event crossed a wire. */
export function logCrossing(kind: 'command' | 'frame' | 'event', name: string): void {
  const line = `${kind} ${name}`;
  if (seen.has(line)) return;
  seen.add(line);
  mkdirSync(directory, { recursive: true });
  appendFileSync(join(directory, `${process.pid}.txt`), `${line}\n`);
}

/** Fails unless the record is valid in the published schema, with no further fields. */
export function assertValid(record: Record<string, unknown>): void {
  const problem = check(outbound, record, { closed: true, definitions });
  if (problem) throw new Error(`tau sent an invalid record: ${problem}\n${JSON.stringify(record).slice(0, 2000)}`);
  if (record['type'] === 'response') {
    if (record['success']) logCrossing('command', String(record['command']));
  } else logCrossing('event', String(record['type']));
}
