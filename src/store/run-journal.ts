import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSettledEvent } from '../protocol/generated/vocabulary.ts';
import { readJsonObject } from './json-file.ts';

/** A run that is under way. */
export interface RunningRecord {
  /** Which numbering of events it was told of in. */
  readonly epoch: string;
  readonly runId: string;
  readonly clientMessageIds: readonly string[];
}

/** A run that is over. */
export interface SettledRecord {
  readonly epoch: string;
  /** The number that its end was told under; undefined when it never was, in that numbering. */
  readonly seq?: number | undefined;
  readonly settled: AgentSettledEvent;
}

/** What is known of the runs of a session. */
export interface RunRecords {
  readonly running?: RunningRecord | undefined;
  /** The last ones, in order. */
  readonly ended: readonly SettledRecord[];
}

/**
 * Remembers the runs of sessions, in a small file for each: one that is under way when a server starts is one that nobody
 * has ended, and of one that is over somebody may not have heard. Written on every run, so nothing is synced: a process
 * that dies does not lose it.
 */
export class RunJournal {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  set(sessionId: string, records: RunRecords): void {
    const path = this.#pathOf(sessionId);
    writeFileSync(`${path}.new`, JSON.stringify(records), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  clear(sessionId: string): void {
    rmSync(this.#pathOf(sessionId), { force: true });
  }

  /** What was written last. What cannot be read says nothing. */
  get(sessionId: string): RunRecords {
    try {
      const { running, ended } = readJsonObject(this.#pathOf(sessionId)) ?? {};
      return { running: isRunning(running) ? running : undefined, ended: Array.isArray(ended) ? ended.filter(isSettled) : [] };
    } catch {
      return { ended: [] };
    }
  }

  /** Ids of sessions that others have made may hold anything. */
  #pathOf(sessionId: string): string {
    const name = createHash('sha256').update(sessionId).digest('hex');
    return join(this.#folder, `${name}.json`);
  }
}

function isRunning(value: unknown): value is RunningRecord {
  const { epoch, runId, clientMessageIds } = fieldsOf(value);
  const isList = Array.isArray(clientMessageIds) && clientMessageIds.every((id) => typeof id === 'string');
  return typeof epoch === 'string' && typeof runId === 'string' && isList;
}

function isSettled(value: unknown): value is SettledRecord {
  const { epoch, seq, settled } = fieldsOf(value);
  const isNumbered = seq === undefined || Number.isInteger(seq);
  return typeof epoch === 'string' && isNumbered && fieldsOf(settled)['type'] === 'agent_settled';
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? { ...value } : {};
