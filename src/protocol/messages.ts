import { AssistantBlock, Attachment, ContentBlock, ContentBlocks } from './content.ts';
import { ThinkingLevel } from './models.ts';
import {
  amount,
  choice,
  count,
  flag,
  list,
  literal,
  nullable,
  object,
  optional,
  text,
  union,
  unknown,
} from './schema.ts';

const timestamp = count('Milliseconds since 1970.');

export const Usage = object(
  {
    input: count(),
    output: count(),
    cacheRead: count(),
    cacheWrite: count(),
    totalTokens: optional(count('Absent in messages of old sessions.')),
    reasoning: optional(count()),
    cacheWrite1h: optional(count()),
    cost: object({
      input: amount(),
      output: amount(),
      cacheRead: amount(),
      cacheWrite: amount(),
      total: amount(),
      totalFromProvider: optional(flag()),
    }),
  },
  'Usage',
  'Tokens and US dollars of one model response.',
);

export const StopReason = choice(['stop', 'length', 'toolUse', 'error', 'aborted'], 'StopReason');

export const runErrors = [
  'model_error',
  'auth_failed',
  'payment_required',
  'rate_limited',
  'overloaded',
  'context_overflow',
  'context_full',
  'stalled',
  'connection_lost',
  'empty_answer',
  'storage_failed',
  'interrupted',
  'internal',
] as const;

export const RunError = choice(runErrors, 'RunError', 'Why a run failed. A closed set, unlike `errorMessage`.');

export const UserMessage = object(
  {
    role: literal('user'),
    content: union([text(), ContentBlocks]),
    timestamp,
    attachments: optional(list(Attachment)),
  },
  'UserMessage',
);

export const AssistantMessage = object(
  {
    role: literal('assistant'),
    content: list(AssistantBlock),
    api: text(),
    provider: text(),
    model: text(),
    usage: Usage,
    stopReason: StopReason,
    errorMessage: optional(text()),
    errorCode: optional(RunError),
    timestamp,
    responseId: optional(text()),
    responseModel: optional(text()),
    rawStopReason: optional(text()),
    thinkingLevel: optional(ThinkingLevel),
    durationMs: optional(amount()),
    diagnostics: optional(unknown()),
  },
  'AssistantMessage',
);

export const ToolResultMessage = object(
  {
    role: literal('toolResult'),
    toolCallId: text(),
    toolName: text(),
    content: list(ContentBlock),
    details: optional(unknown()),
    isError: flag(),
    timestamp,
    usage: optional(unknown()),
    nestedCalls: optional(unknown()),
    durationMs: optional(amount()),
  },
  'ToolResultMessage',
);

export const BashExecutionMessage = object(
  {
    role: literal('bashExecution'),
    command: text(),
    output: text(),
    exitCode: optional(nullable(amount())),
    cancelled: flag(),
    truncated: flag(),
    fullOutputPath: optional(nullable(text())),
    timestamp,
    excludeFromContext: optional(flag()),
  },
  'BashExecutionMessage',
  'A command the client ran with `bash`.',
);

export const CustomMessage = object(
  {
    role: literal('custom'),
    customType: text(),
    content: union([text(), ContentBlocks]),
    display: flag(),
    details: optional(unknown()),
    timestamp,
  },
  'CustomMessage',
  'A message an extension put into the conversation.',
);

export const BranchSummaryMessage = object(
  { role: literal('branchSummary'), summary: text(), fromId: text(), timestamp },
  'BranchSummaryMessage',
);

export const CompactionSummaryMessage = object(
  { role: literal('compactionSummary'), summary: text(), tokensBefore: count(), timestamp },
  'CompactionSummaryMessage',
);

/** Messages of a conversation, by role. */
export const AgentMessage = union(
  [
    UserMessage,
    AssistantMessage,
    ToolResultMessage,
    BashExecutionMessage,
    CustomMessage,
    BranchSummaryMessage,
    CompactionSummaryMessage,
  ],
  'AgentMessage',
  'Any message of a conversation, distinguished by `role`.',
);
