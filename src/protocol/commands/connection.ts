import { agentEvents } from '../events/agent.ts';
import { clientEvents } from '../events/client.ts';
import type { EventTable } from '../events/row.ts';
import { sessionEvents } from '../events/session.ts';

/** Every record tau sends that is no answer. */
export const events = { ...agentEvents, ...sessionEvents, ...clientEvents } satisfies EventTable;
