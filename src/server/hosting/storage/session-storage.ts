import type { RunJournal } from '../../../store/run-journal.ts';
import type { Access, SessionTarget } from '../../sessions.ts';
import { type Journal, MemoryJournal } from './journal.ts';
import type { Claim, Ownership } from './ownership.ts';

/** Stores the runs of sessions beyond the life of a host. */
export type RunStore = Pick<RunJournal, 'get' | 'set' | 'clear'>;

/** The storage of a session that this process owns, for its host. */
export interface OwnedSession {
  /** The session as the agent opens it: its file is complete. */
  readonly target: SessionTarget;
  readonly journal: Journal;
  readonly runs: RunStore;
  /** Settles when the changes of `runs` are stored; undefined if they are. It does not reject. */
  readonly pendingRuns: () => Promise<void> | undefined;
  /** Aborts when another process owns the session. */
  readonly lost: AbortSignal;
  /** Arguments of its agents, before those of the session. */
  readonly agentArgs: (access: Access) => readonly string[];
  /** Parameters of `hello` for its agents. */
  readonly hello: (access: Access) => object;
  /** Call once, with a function that sends frames to the agent. */
  connect(sendFrame: (frame: object) => void): void;
  /** The agent changed to a session that it created. */
  moveTo(sessionId: string): Promise<void>;
  /** Call when the agent has ended. */
  release(): Promise<void>;
}

/** Opens the storage of sessions. */
export interface SessionStorage {
  /** Undefined if another process owns the session. */
  open(target: SessionTarget): Promise<OwnedSession | undefined>;
  /** Call before an agent works on the file of a session that is not open in this process; returns its path. */
  fetch(target: SessionTarget): Promise<string | undefined>;
  /** Call before a client receives the name of a session that an agent created beside its own. */
  adopt(target: SessionTarget): Promise<void>;
}

/** Sessions in files of this machine: the agent keeps everything itself. */
export class LocalStorage implements SessionStorage {
  readonly #ownership: Ownership;
  readonly #runs: RunStore;

  constructor(ownership: Ownership, runs: RunStore) {
    this.#ownership = ownership;
    this.#runs = runs;
  }

  async fetch(target: SessionTarget): Promise<string | undefined> {
    return target.kind === 'stored' ? target.path : undefined;
  }

  async adopt(): Promise<void> {}

  async open(target: SessionTarget): Promise<OwnedSession | undefined> {
    const ownership = this.#ownership;
    let claim: Claim | undefined = await ownership.claim(target.id);
    if (!claim) return undefined;
    const { lost } = claim;
    return {
      target,
      journal: new MemoryJournal({ isLost: () => lost.aborted }),
      runs: this.#runs,
      pendingRuns: () => undefined,
      lost,
      agentArgs: () => [],
      hello: () => ({}),
      connect: () => {},
      moveTo: async (sessionId) => {
        const next = await ownership.claim(sessionId);
        if (!next) return;
        void claim?.release();
        claim = next;
      },
      release: async () => {
        await claim?.release();
        claim = undefined;
      },
    };
  }
}
