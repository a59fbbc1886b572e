import { choice, count, flag, list, object, optional, text } from '../schema.ts';
import { Feature } from '../state.ts';
import type { CommandTable } from './row.ts';

/** Commands about the connection of a client: handshake and ping. */
export const connection = {
  hello: {
    doc: 'Negotiate options; returns the protocol number, the capabilities in force and the limits.',
    params: {
      client: optional(object({ name: text(), version: optional(text()) })),
      stream: optional(choice(['cumulative', 'delta'])),
      toolOutput: optional(
        choice(
          ['cumulative', 'delta', 'both'],
          undefined,
          'The form of `tool_execution_update`: all output so far (default), only the new output, or both.',
        ),
      ),
      legacyNames: optional(flag('False: no events under their older names.')),
      builtins: optional(flag('True: built-in slash commands are listed and run.')),
      entries: optional(flag('True: every session entry is sent as `entry_appended`.')),
      entriesAfter: optional(
        text('With `entries:true`: of the stored entries only those after this one are sent; all if it is unknown.'),
      ),
      ui: optional(list(text(), 'The dialog methods this client can show.')),
      ids: optional(flag('True: events carry `sessionId`, and those of a run `runId`.')),
      heartbeatMs: optional(count('Send `heartbeat` this often; 0 = never.')),
    },
    result: object({
      protocol: count(),
      server: object({ name: text(), version: text() }),
      capabilities: object({
        stream: choice(['cumulative', 'delta']),
        toolOutput: choice(['cumulative', 'delta', 'both']),
        legacyNames: flag(),
        builtins: flag(),
        entries: flag(),
        ids: flag(),
        ui: optional(list(text())),
        heartbeatMs: count(),
      }),
      limits: object({ maxLineBytes: count(), maxQueuedMessages: count() }),
      supported: object({
        commands: list(text(), 'The commands that this client may send.'),
        events: list(text(), 'The events that a client may receive.'),
        features: list(Feature),
      }),
    }),
    fails: [],
    lane: 'control',
    scope: 'view',
  },
  ping: {
    doc: 'Responds at once, whatever the agent does: the connection is alive.',
    params: {},
    fails: [],
    lane: 'control',
    scope: 'view',
  },
} as const satisfies CommandTable;
