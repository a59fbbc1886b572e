import { SessionEntry, TreeNode } from '../entries.ts';
import { AgentMessage } from '../messages.ts';
import { choice, count, flag, list, nonEmpty, nullable, object, optional, positiveCount, text } from '../schema.ts';
import { Preflight, SessionState, SessionStats, SessionSummary, SlashCommand } from '../state.ts';
import type { CommandTable } from './row.ts';

const detached = optional(flag('Create or check the target and return it, but stay in this session.'));

const Moved = object(
  {
    cancelled: flag('An extension cancelled it.'),
    sessionId: optional(text()),
    sessionFile: optional(text()),
  },
  'Moved',
);

const Forked = object(
  { text: text(), cancelled: flag(), sessionId: optional(text()), sessionFile: optional(text()) },
  'Forked',
);

const ForkPoints = object({ messages: list(object({ entryId: text(), text: text() })) }, 'ForkPoints');

const fork = {
  doc: 'Copy the conversation before a user message into a new session and switch to it; returns the text of the message.',
  params: { entryId: nonEmpty(), detached },
  result: Forked,
  fails: ['not_found', 'session_in_use'],
  lane: 'session',
  scope: 'prompt',
  returnsContent: true,
} as const;

const forkMessages = {
  doc: 'The user messages of every branch, in file order, each a point to fork at.',
  params: {},
  result: ForkPoints,
  fails: [],
  lane: 'read',
  scope: 'view',
} as const;

/** Commands that switch, read, store and export sessions. */
export const sessions = {
  new_session: {
    doc: 'Start an empty session. A run is stopped first.',
    params: { parentSession: optional(text('Recorded in the new header; nothing is copied.')), detached },
    result: Moved,
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  switch_session: {
    doc: 'Load another session file. A run is stopped first.',
    params: { sessionPath: nonEmpty(), detached },
    result: Moved,
    fails: ['session_not_found', 'not_a_session', 'session_in_use', 'permission_denied'],
    lane: 'session',
    scope: 'prompt',
  },
  fork,
  branch: { ...fork, doc: 'The xcsh name of `fork`.' },
  clone: {
    doc: 'Copy the active branch into a new session and switch to it. A run is stopped first.',
    params: { detached },
    result: Moved,
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  get_fork_messages: forkMessages,
  get_branch_messages: { ...forkMessages, doc: 'The xcsh name of `get_fork_messages`.' },
  get_state: {
    doc: 'The state of the session.',
    params: {},
    result: SessionState,
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  get_messages: {
    doc: 'Every message of the conversation as the model sees it.',
    params: {},
    result: object({ messages: list(AgentMessage) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  get_messages_page: {
    doc: 'The messages of the conversation, a page at a time. Within a page the oldest is first.',
    params: {
      cursor: optional(text()),
      limit: optional(positiveCount()),
      from: optional(choice(['start', 'end'], undefined, 'Where the first page is; absent: `start`.')),
      replaced: optional(flag('True: only the messages that compactions replaced by a summary.')),
    },
    result: object({ messages: list(AgentMessage), nextCursor: optional(text()), totalMessages: count() }),
    fails: ['not_found'],
    lane: 'read',
    scope: 'view',
  },
  get_entries: {
    doc: 'Entries of the session file in file order, all of them or those after one.',
    params: { since: optional(nonEmpty('Only entries after this one.')), limit: optional(count('At most this many.')) },
    result: object({ entries: list(SessionEntry), leafId: nullable(text()), hasMore: optional(flag()) }),
    fails: ['not_found'],
    lane: 'read',
    scope: 'view',
  },
  get_tree: {
    doc: 'The whole session tree, nested as deep as the conversation is long; `get_entries` is flat.',
    params: {},
    result: object({ tree: list(TreeNode), leafId: nullable(text()) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  navigate_tree: {
    doc: 'Continue from another entry of the tree.',
    params: {
      targetId: nonEmpty(),
      summarize: optional(flag('Add a summary of the abandoned branch to the target branch.')),
      customInstructions: optional(text('Instructions for the summary.')),
      replaceInstructions: optional(flag('Replaces the usual instructions instead of following them.')),
      label: optional(text('A label for the new leaf.')),
    },
    result: object({
      cancelled: flag(),
      editorText: optional(text('The text of the target, if it is a user message: the leaf is before it.')),
      summaryEntryId: optional(text()),
    }),
    fails: ['not_found', 'agent_busy'],
    lane: 'session',
    scope: 'prompt',
    returnsContent: true,
  },
  get_last_assistant_text: {
    doc: 'The text of the last assistant message, null when there is none.',
    params: {},
    result: object({ text: nullable(text()) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_session_name: {
    doc: 'Give the session a name for listings.',
    params: { name: text() },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  get_session_stats: {
    doc: 'Messages, tokens, cost and context use of the session.',
    params: {},
    result: SessionStats,
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  list_sessions: {
    doc: 'Stored sessions, the newest first.',
    params: { cwd: optional(text()), cursor: optional(text()), limit: optional(positiveCount()) },
    result: object({ sessions: list(SessionSummary), nextCursor: optional(text()) }),
    fails: ['not_found', 'permission_denied'],
    lane: 'read',
    scope: 'view',
  },
  delete_session: {
    doc: 'Move a stored session to the trash folder beside it. A server refuses a session with a run or other clients, unless `stop` names `run` or `all`.',
    params: { sessionPath: nonEmpty(), stop: optional(choice(['run', 'all'])) },
    result: object({ trashPath: text() }),
    fails: ['session_not_found', 'not_a_session', 'session_in_use', 'permission_denied'],
    lane: 'session',
    scope: 'prompt',
  },
  restore_session: {
    doc: 'Move a session from the trash back to the folder beside it.',
    params: { trashPath: nonEmpty() },
    result: object({ sessionPath: text() }),
    fails: ['session_not_found', 'not_a_session', 'session_in_use', 'permission_denied'],
    lane: 'session',
    scope: 'prompt',
  },
  rename_session: {
    doc: 'Give a stored session another name for listings.',
    params: { sessionPath: nonEmpty(), name: text() },
    fails: ['session_not_found', 'not_a_session', 'session_in_use', 'permission_denied'],
    lane: 'session',
    scope: 'prompt',
  },
  preflight: {
    doc: 'Check everything a prompt needs, without calling a model.',
    params: {},
    result: Preflight,
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  export_html: {
    doc: 'Write the session as one HTML page. An existing file is replaced only if it is a web page.',
    params: { outputPath: optional(nonEmpty()) },
    result: object({ path: text(), url: optional(text('Where a remote client can fetch the page, once.')) }),
    fails: ['not_supported', 'not_found', 'permission_denied'],
    lane: 'read',
    scope: 'prompt',
    returnsContent: true,
  },
  list_files: {
    doc: 'Files and folders below the folder of the session whose paths contain the letters of a query in order, the nearest first, without those that git ignores.',
    params: {
      query: optional(text('Absent or empty: all.')),
      limit: optional(positiveCount('The most files to return; absent: 50.')),
    },
    result: object({
      files: list(object({ path: text('Relative to the folder; the path of a folder ends with /.') }, 'FileMatch')),
      hasMore: flag(),
    }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  get_commands: {
    doc: 'The slash commands that `prompt` accepts.',
    params: { builtins: optional(flag('Whether to list built-in ones; absent: as set by `hello`.')) },
    result: object({ commands: list(SlashCommand) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_trust: {
    doc: 'Trust the project folder, or stop trusting it: its settings apply only when it is trusted.',
    params: { trusted: flag(), remember: optional(flag('False: for this process only.')) },
    result: object({ projectTrusted: flag() }),
    fails: [],
    lane: 'session',
    scope: 'admin',
  },
} as const satisfies CommandTable;
