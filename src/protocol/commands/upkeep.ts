import { filled, flag, list, object, optional, text } from '../schema.ts';
import { BashResult, CompactionResult, HostTool, TodoPhase, ToolInfo } from '../state.ts';
import { type CommandTable, persist } from './row.ts';

export const upkeep = {
  compact: {
    doc: 'Replace the older part of the conversation by a summary.',
    params: { customInstructions: optional(text()) },
    result: CompactionResult,
    fails: ['agent_busy'],
    lane: 'session',
    scope: 'prompt',
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
  bash: {
    doc: 'Run a shell command and put its output into the conversation.',
    params: { command: filled(), excludeFromContext: optional(flag()) },
    result: BashResult,
    fails: [],
    lane: 'bash',
    scope: 'bash',
  },
  abort_bash: {
    doc: 'Kill the shell commands that `bash` started.',
    params: {},
    fails: [],
    lane: 'control',
    scope: 'bash',
  },
  get_tools: {
    doc: 'Every tool there is, and whether the model is offered it.',
    params: {},
    result: object({ tools: list(ToolInfo) }),
    fails: [],
    lane: 'read',
    scope: 'view',
  },
  set_active_tools: {
    doc: 'Offer the model these tools and no others, from its next call on.',
    params: { tools: list(filled()) },
    result: object({ activeTools: list(text()) }),
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  set_host_tools: {
    doc: 'Replace the tools that this client runs for the agent.',
    params: { tools: list(HostTool) },
    result: object({ toolNames: list(text()) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_todos: {
    doc: 'Replace the todo list.',
    params: { phases: list(TodoPhase) },
    result: object({ todoPhases: list(TodoPhase) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
} as const satisfies CommandTable;
