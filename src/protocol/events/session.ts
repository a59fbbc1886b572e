import { SessionEntry, SessionHeader } from '../entries.ts';
import { ThinkingLevel } from '../models.ts';
import { choice, count, flag, freeform, list, nullable, optional, text, union, unknown } from '../schema.ts';
import { CompactionResult, McpServerStatus, QueuedItem } from '../state.ts';
import { type EventTable, event } from './row.ts';

const automatic = choice(['threshold', 'overflow']);
const compacted = {
  result: nullable(CompactionResult),
  aborted: flag(),
  willRetry: flag(),
  errorMessage: optional(text()),
  notice: optional(text('Why no further automatic compaction follows for now.')),
};

/** Events of the session: queue, settings, entries, compaction, retries and todos. */
export const sessionEvents = {
  ready: event('ready', 'The first record: commands are read from now on.', {
    version: text(),
    protocolVersion: count(),
    supportedProtocolVersions: list(count()),
  }),
  agent_exiting: event(
    'agent_exiting',
    'The last record of an agent that a fatal error, or an extension with `process.exit`, ends.',
    {
      code: count('The exit code of the process.'),
      reason: text(),
    },
  ),
  queue_update: event('queue_update', 'The queued messages changed.', {
    steering: list(text()),
    followUp: list(text()),
    items: list(QueuedItem),
  }),
  state_changed: event('state_changed', 'These fields of get_state changed.', {
    state: freeform('Some of the fields of SessionState.'),
  }),
  session_info_changed: event('session_info_changed', 'The session name changed.', { name: optional(text()) }),
  thinking_level_changed: event('thinking_level_changed', 'The thinking level changed.', {
    level: ThinkingLevel,
  }),
  session_repaired: event('session_repaired', 'A crash left the session unfinished; it was repaired on opening.', {
    sessionId: text(),
    toolCallIds: list(text(), 'Calls that got an error result instead of the lost one.'),
    tornBytes: count('Bytes of a half-written last line that were cut off.'),
  }),
  trust_skipped: event(
    'trust_skipped',
    'Files of the project are not used because it is not trusted; sent when the session opens and when they change.',
    { cwd: text(), files: list(text(), 'Their paths; empty: none any more.') },
  ),
  warning: event('warning', 'A file or an extension was ignored, in part or as a whole. Sent once for each message.', {
    source: choice(['settings', 'models', 'mcp', 'extension', 'agent']),
    message: text(),
  }),
  entry_appended: event('entry_appended', 'A line was added to the session file. Only after hello `entries:true`.', {
    entry: union([SessionHeader, SessionEntry]),
  }),
  compaction_start: event('compaction_start', 'Compaction begins.', {
    reason: choice(['manual', 'threshold', 'overflow']),
  }),
  compaction_end: event('compaction_end', 'Compaction is over.', {
    reason: choice(['manual', 'threshold', 'overflow']),
    ...compacted,
  }),
  auto_compaction_start: event('auto_compaction_start', 'The older name of an automatic compaction_start.', {
    reason: automatic,
  }),
  auto_compaction_end: event('auto_compaction_end', 'The older name of an automatic compaction_end.', compacted),
  auto_retry_start: event('auto_retry_start', 'A failed model call will be repeated after a delay.', {
    attempt: count(),
    maxAttempts: count(),
    delayMs: count(),
    errorMessage: text(),
  }),
  auto_retry_end: event('auto_retry_end', 'The retries succeeded or were abandoned.', {
    success: flag(),
    attempt: count(),
    finalError: optional(text()),
  }),
  summarization_retry_scheduled: event(
    'summarization_retry_scheduled',
    'A failed model call for a summary will be repeated after a delay.',
    { attempt: count(), maxAttempts: count(), delayMs: count(), errorMessage: text() },
  ),
  summarization_retry_attempt_start: event('summarization_retry_attempt_start', 'The model call is repeated.', {
    source: choice(['compaction', 'branchSummary']),
    reason: optional(choice(['manual', 'threshold', 'overflow'])),
  }),
  summarization_retry_finished: event(
    'summarization_retry_finished',
    'The retries of a summary succeeded or were abandoned.',
    {},
  ),
  bash_execution_update: event('bash_execution_update', 'Output of a `bash` command; the only event with an id.', {
    id: optional(unknown()),
    delta: text(),
  }),
  ttsr_triggered: event('ttsr_triggered', 'A stream rule matched and the assistant message was restarted.', {
    rules: list(freeform()),
  }),
  todo_reminder: event('todo_reminder', 'The agent stopped with todos open and is reminded of them.', {
    todos: list(freeform()),
    attempt: count(),
    maxAttempts: count(),
  }),
  mcp_status: event('mcp_status', 'An MCP server was connected, failed, was closed or has other tools.', {
    server: McpServerStatus,
  }),
  todo_auto_clear: event('todo_auto_clear', 'Finished todos were removed.'),
} as const satisfies EventTable;
