import { flag, object, optional, text } from '../schema.ts';
import { CompactionResult, InterruptMode } from '../state.ts';
import { type CommandTable, persist } from './row.ts';

/** Commands that control runs: abort, wait, interrupt, compaction and retries. */
export const runs = {
  abort: {
    doc: 'Stop the run. Responds when everything has stopped; succeeds when idle. Queued messages are kept and join the next run; a message that is not accepted yet is rejected.',
    params: { clearQueue: optional(flag('Drop the queued messages too.')) },
    fails: [],
    lane: 'control',
    scope: 'prompt',
  },
  wait_idle: {
    doc: 'Responds when no run is active, at once if none is.',
    params: {},
    result: object({ isIdle: flag(), runId: optional(text('The run that ended last.')), outcome: optional(text()) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_interrupt_mode: {
    doc: 'Let steering wait for the tools of the turn, or skip those not started yet.',
    params: { mode: InterruptMode, persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  compact: {
    doc: 'Replace the older part of the conversation by a summary.',
    params: { customInstructions: optional(text()) },
    result: CompactionResult,
    fails: ['agent_busy'],
    lane: 'session',
    scope: 'prompt',
    returnsContent: true,
  },
  set_auto_compaction: {
    doc: 'Compact by itself when the context is nearly full, or not.',
    params: { enabled: flag(), persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_auto_retry: {
    doc: 'Retry by itself after transient model failures, or not.',
    params: { enabled: flag(), persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  abort_retry: {
    doc: 'Give up a retry that is waiting.',
    params: {},
    fails: [],
    lane: 'control',
    scope: 'prompt',
  },
} as const satisfies CommandTable;
