import { agentEvents } from './agent.ts';
import { peerEvents } from './peers.ts';
import type { EventTable } from './row.ts';
import { sessionEvents } from './session.ts';

/** Every record tau sends that is no answer. */
export const events = { ...agentEvents, ...sessionEvents, ...peerEvents } satisfies EventTable;
