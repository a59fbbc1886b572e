import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readJsonObject } from './json-file.ts';

/** A run that is under way. */
export interface RunMark {
  /** Which numbering of events it was told of in. */
  readonly epoch: string;
  readonly runId: string;
  readonly clientMessageIds: readonly string[];
}

/**
 * Remembers which sessions have a run under way, a small file for each: one that is there when a server starts tells of a
 * run that nobody has ended. Written on every run, so nothing is synced: a process that dies does not lose it.
 */
export class RunMarks {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  set(sessionId: string, mark: RunMark): void {
    const path = this.#pathOf(sessionId);
    writeFileSync(`${path}.new`, JSON.stringify(mark), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  clear(sessionId: string): void {
    rmSync(this.#pathOf(sessionId), { force: true });
  }

  /** The run that is, or was, under way. */
  get(sessionId: string): RunMark | undefined {
    return this.#read(sessionId);
  }

  /** Forgets a run of which somebody was told, unless another one is under way by now. */
  told(sessionId: string, { epoch }: RunMark): void {
    if (this.#read(sessionId)?.epoch === epoch) this.clear(sessionId);
  }

  #read(sessionId: string): RunMark | undefined {
    try {
      const { epoch, runId, clientMessageIds } = readJsonObject(this.#pathOf(sessionId)) ?? {};
      if (typeof epoch !== 'string' || typeof runId !== 'string' || !Array.isArray(clientMessageIds)) return undefined;
      return { epoch, runId, clientMessageIds: clientMessageIds.filter((id) => typeof id === 'string') };
    } catch {
      return undefined;
    }
  }

  /** Ids of sessions that others have made may hold anything. */
  #pathOf(sessionId: string): string {
    const name = createHash('sha256').update(sessionId).digest('hex');
    return join(this.#folder, `${name}.json`);
  }
}
