import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AgentSettledEvent } from '../protocol/generated/vocabulary.ts';
import { readJsonObject } from './json-file.ts';

/** A run that is active. */
export interface RunningRecord {
  /** The epoch of the events of this run. */
  readonly epoch: string;
  readonly runId: string;
  readonly clientMessageIds: readonly string[];
}

/** A run that has ended. */
export interface SettledRecord {
  readonly epoch: string;
  /** Sequence number of its `agent_settled`; undefined if that was not published in this epoch. */
  readonly seq?: number | undefined;
  readonly settled: AgentSettledEvent;
}

/** The stored runs of one session. */
export interface RunRecords {
  readonly running?: RunningRecord | undefined;
  /** The last ones, oldest first. */
  readonly ended: readonly SettledRecord[];
}

/**
 * Stores the runs of each session in a small file: a run that is active when a server starts was interrupted, and a
 * client may have missed the end of a settled one. Not synced: the death of the process does not lose it.
 *
 * No method throws, because no run and no response depends on these files: `onFailure` gets the first error after each
 * success.
 */
export class RunJournal {
  readonly #folder: string;
  readonly #onFailure: (error: unknown) => void;
  #hasFailed = false;

  constructor(folder: string, onFailure: (error: unknown) => void = () => {}) {
    this.#folder = folder;
    this.#onFailure = onFailure;
    this.#attempt(() => this.#makeFolder());
  }

  /** Replaces the stored runs. If that fails they are removed: an outdated file would end a settled run again. */
  set(sessionId: string, records: RunRecords): void {
    if (!this.#attempt(() => this.#write(sessionId, records))) this.#attempt(() => this.#remove(sessionId));
  }

  clear(sessionId: string): void {
    this.#attempt(() => this.#remove(sessionId));
  }

  #write(sessionId: string, records: RunRecords): void {
    const path = this.#pathOf(sessionId);
    this.#makeFolder();
    writeFileSync(`${path}.new`, JSON.stringify(records), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    this.#hasFailed = false;
  }

  #remove(sessionId: string): void {
    const path = this.#pathOf(sessionId);
    for (const file of [path, `${path}.new`]) rmSync(file, { force: true });
  }

  #makeFolder(): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
  }

  #attempt(operation: () => void): boolean {
    try {
      operation();
      return true;
    } catch (error) {
      if (!this.#hasFailed) this.#onFailure(error);
      this.#hasFailed = true;
      return false;
    }
  }

  /** The stored runs; an unreadable file counts as empty. */
  get(sessionId: string): RunRecords {
    try {
      const { running, ended } = readJsonObject(this.#pathOf(sessionId)) ?? {};
      return {
        running: isRunning(running) ? running : undefined,
        ended: Array.isArray(ended) ? ended.filter(isSettled) : [],
      };
    } catch {
      return { ended: [] };
    }
  }

  /** Hashed, because session ids of other programs may hold anything. */
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
