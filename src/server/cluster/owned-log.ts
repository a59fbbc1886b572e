import type { RunRecords } from '../../store/run-journal.ts';
import { CoalescedTask } from '../../system/coalesced-task.ts';
import { NotOwner } from '../hosting/storage/journal.ts';
import type { LogClaim, LogOwnership } from './log-ownership.ts';
import { LogRuns, NO_RUNS } from './log-runs.ts';
import type { Replica, ReplicaFiles } from './replica-file.ts';
import { appendLines, type EntryLog } from './replicated-journal.ts';

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

// The beginning of a line that names the session.
const NAME_ENTRY = '{"type":"session_info"';

/** The log that this node owns for one agent, across the sessions that the agent creates. */
export class OwnedLog implements EntryLog {
  readonly #options: OwnedLogOptions;
  readonly #lost = new AbortController();
  readonly #changes = new CoalescedTask(() => this.#options.onChange(this.sessionId));
  #claim: LogClaim;
  #runs: LogRuns;
  /** The appends of marks that have not settled. */
  #pendingRuns: Promise<void> | undefined;
  /** The length of the session file up to the entries in the log. */
  #bytes: number;

  constructor(options: OwnedLogOptions) {
    this.#options = options;
    this.#claim = options.claim;
    this.#bytes = options.replica.bytes;
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
      void this.#changes.run().catch(this.#options.onError);
    },
    // Ends of runs stay in the log: clients of the next owner may have missed them.
    clear: (): void => {},
  };

  async append(lines: readonly string[]): Promise<void> {
    await appendLines(this.#claim, lines);
    this.#bytes += lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    if (lines.some((line) => line.startsWith(NAME_ENTRY))) void this.#changes.run().catch(this.#options.onError);
    const { type, id } = JSON.parse(lines.at(-1) ?? '{}') as { type?: unknown; id?: unknown };
    if (type !== 'session') this.#options.onKept(String(id));
  }

  async begin(sessionId: string): Promise<void> {
    if (sessionId === this.sessionId) return;
    const next = await this.#options.ownership.claim(sessionId);
    if (!next) throw new NotOwner();
    await this.release();
    this.#claim = next;
    this.#bytes = 0;
    this.#runs = this.#runsOf(NO_RUNS);
    this.#watch(next);
  }

  /** Ends the ownership of the session. One without messages has no file any more, and leaves no log either. */
  async release(): Promise<void> {
    const { files } = this.#options;
    const claim = this.#claim;
    if (claim.lost.aborted) await claim.release();
    else if (files.find(this.sessionId) === undefined) await claim.purge();
    else {
      await this.#changes.run().catch(this.#options.onError);
      await claim.release();
      files.storePosition(this.sessionId, { seq: claim.log.last, bytes: this.#bytes, marks: this.#runs.get() });
    }
  }

  #runsOf(marks: RunRecords): LogRuns {
    const claim = this.#claim;
    return new LogRuns(marks, (data) => {
      const appended: Promise<void> = claim
        .append('mark', data)
        .then(() => {}, this.#options.onError)
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
