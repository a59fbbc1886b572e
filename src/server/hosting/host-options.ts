import type { RunJournal } from '../../store/run-journal.ts';
import type { SessionTarget } from '../sessions.ts';
import type { AgentLaunch } from './agent-process.ts';
import type { Journal } from './journal.ts';

export interface HostOptions {
  readonly target: SessionTarget;
  readonly agent: AgentLaunch;
  readonly journal: Journal;
  readonly runJournal: RunJournal;
  /** How long an idle agent without clients is kept. */
  readonly parkAfterMs: number;
  readonly callbacks: HostCallbacks;
}

/** Notifications of a host to its owner. */
export interface HostCallbacks {
  readonly onCrash: (reason: string) => void;
  /** The agent changed to another session. */
  readonly onSessionChange: (sessionId: string) => void;
  /** An error outside of the agent. */
  readonly onError: (error: unknown) => void;
  /** The host was parked, closed or failed. */
  readonly onClose: () => void;
}
