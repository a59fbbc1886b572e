import type { RunRecords } from '../../../store/run-journal.ts';
import { CoalescedTask } from '../../../system/coalesced-task.ts';
import { NotOwner, type StoredEntry } from '../../hosting/storage/journal.ts';
import type { LogClaim, LogOwnership } from './log-ownership.ts';
import { LogRuns, NO_RUNS } from './log-runs.ts';
import type { Replica, ReplicaFiles } from './replica-file.ts';
import { appendEntries, type EntryLog } from './replicated-journal.ts';

interface OwnedLogOptions {
  readonly ownership: LogOwnership;
  readonly files: ReplicaFiles;
  readonly claim: LogClaim;
  readonly replica: Replica;
  /** The log has all entries up to this one. */
  readonly onKept: (entryId: string) => void;
  /** The summary of the session may have changed. */
  readonly onChange: (sessionId: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

// The types of entries that a session without content has, too.
const EMPTY_TYPES: ReadonlySet<string> = new Set(['session', 'model_change', 'thinking_level_change', 'session_info']);

/** The log that this node owns for one agent, across the sessions that the agent creates. */
export class OwnedLog implements EntryLog {
  readonly #options: OwnedLogOptions;
  readonly #lost = new AbortController();
  readonly #changes = new CoalescedTask(() => this.#options.onChange(this.sessionId));
  #claim: LogClaim;
  #runs: LogRuns;
  /** The appends of marks that have not settled. */
  #pendingRuns: Promise<void> | undefined;
  /** The last append of entries; it does not reject. */
  #appended: Promise<void> = Promise.resolve();
  /** The length of the session file up to the entries in the log. */
  #bytes: number;
  #hasContent: boolean;
  #lastEntryId: string | undefined;

  constructor(options: OwnedLogOptions) {
    this.#options = options;
    this.#claim = options.claim;
    this.#bytes = options.replica.bytes;
    this.#hasContent = options.replica.bytes > 0;
    this.#lastEntryId = options.replica.lastEntryId;
    this.#runs = this.#runsOf(options.replica.marks);
    this.#watch(options.claim);
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  get sessionId(): string {
    return this.#claim.log.sessionId;
  }

  /** Settles when the runs are in the log; undefined if they are. */
  get pendingRuns(): Promise<void> | undefined {
    return this.#pendingRuns;
  }

  readonly runs = {
    get: (): RunRecords => this.#runs.get(),
    set: (_sessionId: string, records: RunRecords): void => {
      this.#runs.set(records);
      this.#update();
    },
    // Ends of runs stay in the log: clients of the next owner may have missed them.
    clear: (): void => {},
  };

  /** The last entry in the log, without which a restarted agent would send all entries again. */
  get lastEntryId(): string | undefined {
    return this.#lastEntryId;
  }

  append(entries: readonly StoredEntry[]): Promise<void> {
    const appended = this.#append(entries);
    this.#appended = appended.catch(() => {});
    return appended;
  }

  async #append(entries: readonly StoredEntry[]): Promise<void> {
    let waiting: StoredEntry[] = [];
    for (const entry of entries) {
      if (entry.type === 'session' && entry.id === this.sessionId && this.#bytes > 0) {
        if (this.#lastEntryId !== undefined) throw new Error(`The file of session ${entry.id} does not hold its log`);
        continue;
      }
      if (entry.type === 'session') {
        await this.#appendAll(waiting);
        waiting = [];
        await this.#begin(entry.id);
      }
      waiting.push(entry);
    }
    await this.#appendAll(waiting);
  }

  async #appendAll(entries: readonly StoredEntry[]): Promise<void> {
    const last = entries.at(-1);
    if (!last) return;
    this.#bytes += await appendEntries(this.#claim, entries);
    const content = entries.filter(({ type }) => !EMPTY_TYPES.has(type));
    const isFirst = !this.#hasContent && content.length > 0;
    this.#hasContent ||= isFirst;
    // Its sender lists sessions after the response to a rename.
    if (entries.some(({ type }) => type === 'session_info')) await this.#changes.run().catch(this.#options.onError);
    else if (isFirst) this.#update();
    if (last.type === 'session') return;
    this.#lastEntryId = last.id;
    this.#options.onKept(last.id);
  }

  /** Follows the agent to a session that it created; the log of such a session is empty. */
  async #begin(sessionId: string): Promise<void> {
    if (sessionId === this.sessionId) return;
    const next = await this.#options.ownership.claim(sessionId);
    if (!next) throw new NotOwner();
    if (!next.isFirst) {
      await next.release();
      throw new Error(`The agent changed to a stored session by itself: ${sessionId}`);
    }
    await this.#end();
    this.#claim = next;
    this.#bytes = 0;
    this.#hasContent = false;
    this.#lastEntryId = undefined;
    this.#runs = this.#runsOf(NO_RUNS);
    this.#watch(next);
  }

  /** Ends the ownership of the session; one without content leaves no log. Does not reject. */
  async release(): Promise<void> {
    // An append in flight may be the first content.
    await this.#appended;
    await this.#end();
  }

  async #end(): Promise<void> {
    try {
      await this.#release();
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #release(): Promise<void> {
    const { files } = this.#options;
    const claim = this.#claim;
    const hasFile = files.find(this.sessionId) !== undefined;
    if (claim.lost.aborted) await claim.release();
    else if (!hasFile && !this.#hasContent) await claim.purge();
    else {
      await this.#changes.run().catch(this.#options.onError);
      await claim.release();
      const position = { seq: claim.log.last, record: claim.log.lastId, bytes: this.#bytes, marks: this.#runs.get() };
      if (hasFile) files.storePosition(this.sessionId, position);
    }
  }

  #update(): void {
    void this.#changes.run().catch(this.#options.onError);
  }

  #runsOf(marks: RunRecords): LogRuns {
    const claim = this.#claim;
    return new LogRuns(marks, (data) => {
      const appended: Promise<void> = claim
        .append('mark', data)
        .then(
          () => {},
          (error: unknown) => {
            // No client may receive what depends on it: they connect again.
            if (this.#claim === claim) this.#lost.abort();
            this.#options.onError(error);
          },
        )
        .finally(() => {
          if (this.#pendingRuns === appended) this.#pendingRuns = undefined;
        });
      this.#pendingRuns = appended;
    });
  }

  #watch(claim: LogClaim): void {
    const lose = () => {
      if (this.#claim === claim) this.#lost.abort();
    };
    if (claim.lost.aborted) lose();
    else claim.lost.addEventListener('abort', lose, { once: true });
  }
}
