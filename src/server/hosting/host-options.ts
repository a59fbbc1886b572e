import type { Access } from '../sessions.ts';
import type { AgentLaunch } from './agent/agent-process.ts';
import type { AgentActivity } from './agent/hosted-agent.ts';
import type { OwnedSession } from './storage/session-storage.ts';

/** The parts of a host that its owner provides. */
export interface HostOptions {
  readonly session: OwnedSession;
  /** The access of the client for which it is opened. */
  readonly access: Access;
  readonly agent: AgentLaunch;
  /** How long an idle agent without clients is kept. */
  readonly parkAfterMs: number;
  readonly callbacks: HostCallbacks;
}

/** Notifications of a host to its owner. */
interface HostCallbacks {
  readonly onCrash: (reason: string) => void;
  readonly onActivity: (activity: AgentActivity) => void;
  /** An error outside of the agent. */
  readonly onError: (error: unknown) => void;
  /** The host was parked, closed or failed. */
  readonly onClose: () => Promise<void>;
}
