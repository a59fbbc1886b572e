import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import schema from '../../docs/schema.json' with { type: 'json' };
import { check, type Definitions, type Schema } from '../../src/protocol/check.ts';

const directory = join(import.meta.dirname, '../../.wire-log');
const definitions = schema.$defs as unknown as Definitions;
const outbound = definitions['outbound'] as Schema;
const seen = new Set<string>();

/** Remembers for the coverage check that this kind of thing crossed a wire. */
export function saw(kind: 'command' | 'frame' | 'event', name: string): void {
  const line = `${kind} ${name}`;
  if (seen.has(line)) return;
  seen.add(line);
  mkdirSync(directory, { recursive: true });
  appendFileSync(join(directory, `${process.pid}.txt`), `${line}\n`);
}

/** Everything tau sends must be what the protocol says, and nothing else. */
export function assertValid(record: Record<string, unknown>): void {
  const problem = check(outbound, record, { closed: true, definitions });
  if (problem)
    throw new Error(`tau sent what the protocol does not know: ${problem}\n${JSON.stringify(record).slice(0, 2000)}`);
  if (record['type'] === 'response') {
    if (record['success']) saw('command', String(record['command']));
  } else saw('event', String(record['type']));
}
