import type { RunJournal } from '../../store/run-journal.ts';
import type { SessionTarget } from '../sessions.ts';
import type { AgentLaunch } from './agent-process.ts';
import type { Journal } from './journal.ts';

export interface HostOptions {
  readonly target: SessionTarget;
  readonly agent: AgentLaunch;
  readonly journal: Journal;
  readonly runJournal: RunJournal;
  /** How long an idle agent waits for somebody to come. */
  readonly parkAfterMs: number;
  readonly callbacks: HostCallbacks;
}

/** What a host tells whoever keeps it. */
export interface HostCallbacks {
  readonly onCrash: (reason: string) => void;
  /** The agent went to another session by itself. */
  readonly onSessionChange: (sessionId: string) => void;
  /** Something went wrong that is no fault of an agent. */
  readonly onError: (error: unknown) => void;
  /** It is over: parked, closed or given up. */
  readonly onClose: () => void;
}
