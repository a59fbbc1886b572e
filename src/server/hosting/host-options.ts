import type { RunJournal } from '../../store/run-journal.ts';
import type { Target } from '../sessions.ts';
import type { AgentCommand } from './agent-process.ts';
import type { Journal } from './journal.ts';

export interface HostOptions {
  readonly target: Target;
  readonly agent: AgentCommand;
  readonly journal: Journal;
  readonly marks: RunJournal;
  /** How long an idle agent waits for somebody to come. */
  readonly parkAfterMs: number;
  readonly news: HostNews;
}

/** What a host tells whoever keeps it. */
export interface HostNews {
  readonly crashed: (how: string) => void;
  /** The agent went to another session by itself. */
  readonly moved: (sessionId: string) => void;
  /** Something went wrong that is no fault of an agent. */
  readonly stumbled: (error: unknown) => void;
  /** It is over: parked, closed or given up. */
  readonly over: () => void;
}
