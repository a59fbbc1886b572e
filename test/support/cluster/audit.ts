import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import {
  type ClusterAddress,
  type ClusterConnection,
  connectCluster,
  untilAnswered,
} from '../../../src/server/cluster/connection.ts';
import {
  RecordJoiner,
  recordOf,
  type StoredRecord,
  type WholeRecord,
} from '../../../src/server/cluster/log/log-record.ts';
import { parseRuns } from '../../../src/server/cluster/log/log-runs.ts';
import { LOG_STREAM } from '../../../src/server/cluster/names.ts';
import type { RunRecords } from '../../../src/store/run-journal.ts';
import type { Home } from '../agent/test-agent.ts';
import type { WireRecord } from '../clients/peer.ts';

const EXPECTED_LAST = 'Nats-Expected-Last-Subject-Sequence';

/** The log of a session, read record by record. */
export interface AuditedLog {
  readonly sessionId: string;
  readonly records: readonly WholeRecord[];
  /** The lines of the session file that the log holds, parsed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever was stored
  readonly entries: readonly any[];
  /** The runs of the session, as each mark in the log holds them. */
  readonly runs: readonly RunRecords[];
}

export type AuditedLogs = ReadonlyMap<string, AuditedLog>;

interface Link {
  readonly record: StoredRecord;
  /** The number of the record that its writer took for the last one. */
  readonly expected: number;
}

/**
 * Reads the logs of all sessions and checks the chain of each: every record stands behind the record that its writer
 * expected, and belongs to the last claim before it. No entry is in a log twice.
 */
export async function auditLogs(
  servers: readonly string[],
  credentials: Pick<ClusterAddress, 'nkeyFile' | 'caFile'> = {},
): Promise<AuditedLogs> {
  const connection = await connectCluster({ servers, name: 'audit', ...credentials });
  try {
    const logs = new Map<string, AuditedLog>();
    for (const [subject, links] of await readLinks(connection)) {
      const sessionId = subject.split('.').at(-1) ?? '';
      checkChain(sessionId, links);
      logs.set(sessionId, joined(sessionId, links));
    }
    return logs;
  } finally {
    await connection.nats.close();
  }
}

/** All records of the stream by subject, from its leader. */
async function readLinks({ manager }: ClusterConnection): Promise<Map<string, Link[]>> {
  const { state } = await untilAnswered(() => manager.streams.info(LOG_STREAM));
  const links = new Map<string, Link[]>();
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await untilAnswered(() => manager.streams.getMessage(LOG_STREAM, { seq }));
    if (!message) continue;
    const link = { record: recordOf(message), expected: Number(message.header.get(EXPECTED_LAST)) };
    links.set(message.subject, [...(links.get(message.subject) ?? []), link]);
  }
  return links;
}

function checkChain(sessionId: string, links: readonly Link[]): void {
  let last = 0;
  let token = 0;
  for (const { record, expected } of links) {
    const place = `record ${record.seq} (${record.kind} of ${record.writer.name}) in the log of ${sessionId}`;
    expect(expected, `${place} stands behind the record that its writer expected`).toBe(last);
    if (record.kind === 'claim') token = record.seq;
    else expect(record.token, `${place} belongs to the last claim`).toBe(token);
    last = record.seq;
  }
}

function joined(sessionId: string, links: readonly Link[]): AuditedLog {
  const joiner = new RecordJoiner();
  const records = links.flatMap(({ record }) => joiner.add(record) ?? []);
  const entries = records
    .filter(({ kind }) => kind === 'entries')
    .flatMap(({ data }) => new TextDecoder().decode(data).trim().split('\n'))
    .map((line) => JSON.parse(line) as { id: string });
  const ids = entries.map(({ id }) => id);
  expect(ids, `no entry is twice in the log of ${sessionId}`).toEqual([...new Set(ids)]);
  const runs = records.filter(({ kind }) => kind === 'mark').map(({ data }) => parseRuns(data));
  return { sessionId, records, entries, runs };
}

const PROMPTS: ReadonlySet<string> = new Set(['prompt', 'steer', 'follow_up', 'abort_and_prompt']);

/**
 * Checks that everything that a client received is in the logs: each of its entries and messages once, each run that it
 * got a response about, and each `agent_settled` as the only end of its run.
 */
export function auditReceived(logs: AuditedLogs, received: readonly WireRecord[]): void {
  let log: AuditedLog | undefined;
  for (const record of received) {
    if (record.type === 'server_connected') log = logs.get(String(record['sessionId']));
    if (record.type === 'message_end') expectMessage(log, record['message']);
    if (record.type === 'agent_settled') expectEnd(log, record);
    if (record.type === 'entry_appended') {
      const { id } = record['entry'] as { id: string };
      expect(log?.entries.filter((entry) => entry.id === id).length, `entry ${id} is in the log`).toBe(1);
    }
    if (record.type === 'response' && PROMPTS.has(String(record['command']))) expectBegin(log, record['data']);
  }
}

function expectMessage(log: AuditedLog | undefined, message: unknown): void {
  const stored = log?.entries.filter((entry) => isDeepStrictEqual(messageOf(entry), message)) ?? [];
  expect(stored.length, `in the log, once: ${JSON.stringify(message)}`).toBe(1);
}

/** The message of an entry as clients receive it. */
// biome-ignore lint/suspicious/noExplicitAny: an entry of any type
function messageOf({ type, message }: any): unknown {
  return type === 'message' ? message : undefined;
}

function expectBegin(log: AuditedLog | undefined, data: unknown): void {
  const { runId, duplicate } = (data ?? {}) as { runId?: string; duplicate?: boolean };
  if (runId === undefined || duplicate) return;
  const isStored = log?.runs.some(
    ({ running, ended }) => running?.runId === runId || ended.some(({ settled }) => settled.runId === runId),
  );
  expect(isStored, `the begin of run ${runId} is in the log`).toBe(true);
}

function expectEnd(log: AuditedLog | undefined, { seq: _, sessionId: __, runId, ...settled }: WireRecord): void {
  const stored = log?.runs.flatMap(({ ended }) => ended.filter((end) => end.settled.runId === runId)) ?? [];
  expect(stored.length, `the end of run ${runId} is in the log`).toBeGreaterThan(0);
  for (const end of stored) expect(end.settled).toMatchObject(settled);
}

/** Checks that the session file of an owner holds what the log holds. Call while nothing is written. */
export function auditFile({ sessionId, entries }: AuditedLog, { agentDir }: Home): void {
  const folder = join(agentDir, 'server/cluster/sessions');
  const [name = ''] = readdirSync(folder).filter((file) => file.endsWith(`_${sessionId}.jsonl`));
  const lines = readFileSync(join(folder, name), 'utf8').trim().split('\n');
  expect(lines.map((line) => JSON.parse(line))).toEqual(entries);
}
