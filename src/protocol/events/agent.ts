import { ContentBlocks, ToolCall } from '../content.ts';
import { AgentMessage, AssistantMessage, RunError, ToolResultMessage, Usage } from '../messages.ts';
import { choice, count, flag, freeform, list, literal, object, optional, text, union, unknown } from '../schema.ts';
import { type EventTable, event } from './row.ts';

const partial = optional(AssistantMessage);
const contentIndex = count();

const blockStart = (kind: string) => object({ type: literal(`${kind}_start`), contentIndex, partial });
const blockDelta = (kind: string) => object({ type: literal(`${kind}_delta`), contentIndex, delta: text(), partial });
const blockEnd = (kind: string) => object({ type: literal(`${kind}_end`), contentIndex, content: text(), partial });

export const AssistantMessageEvent = union(
  [
    object({ type: literal('start'), partial }),
    blockStart('text'),
    blockDelta('text'),
    blockEnd('text'),
    blockStart('thinking'),
    blockDelta('thinking'),
    blockEnd('thinking'),
    object({
      type: literal('toolcall_start'),
      contentIndex,
      id: text('The id of the tool call.'),
      toolName: text(),
      partial,
    }),
    blockDelta('toolcall'),
    object({ type: literal('toolcall_end'), contentIndex, toolCall: ToolCall, partial }),
    object({
      type: literal('done'),
      reason: choice(['stop', 'length', 'toolUse']),
      message: optional(AssistantMessage),
    }),
    object({ type: literal('error'), reason: choice(['aborted', 'error']), error: optional(AssistantMessage) }),
  ],
  'AssistantMessageEvent',
  'One step of a streaming assistant message. `partial`, and `message` or `error` at the end, appear in cumulative form only.',
);

const ToolProgress = object(
  { content: ContentBlocks, details: optional(unknown()), structuredContent: optional(unknown()) },
  'ToolProgress',
);

const tool = {
  toolCallId: text(),
  toolName: text(),
  parentToolCallId: optional(text('The call of the tool that made this call.')),
};

/** Events of the agent's work: runs, turns, messages and tools. */
export const agentEvents = {
  agent_start: event('agent_start', 'The agent begins to work.'),
  agent_end: event('agent_end', 'The agent stops working. The run may continue: `agent_settled` ends it.', {
    messages: list(AgentMessage, 'Messages added since agent_start.'),
    willRetry: flag('The same request is about to be repeated.'),
    isTerminal: flag('False: the session continues by itself.'),
  }),
  agent_settled: event('agent_settled', 'The run is over. Sent exactly once per run, as its last record.', {
    runId: text(),
    aborted: flag(),
    outcome: choice(['ok', 'error', 'aborted', 'budget'], 'RunOutcome'),
    errorCode: optional(RunError),
    errorMessage: optional(text()),
    httpStatus: optional(count('The status of the HTTP response of the model server that failed the run.')),
    retryAfterMs: optional(count('The delay that the response required before the next request.')),
    clientMessageIds: list(text(), 'The client messages that the run served.'),
  }),
  turn_start: event('turn_start', 'A turn begins: one model response and its tools.'),
  turn_end: event('turn_end', 'A turn is over.', {
    message: AssistantMessage,
    toolResults: list(ToolResultMessage, 'In the order of the calls.'),
  }),
  message_start: event(
    'message_start',
    'A message begins. An assistant message begins empty, when the provider has responded or failed to.',
    {
      message: AgentMessage,
    },
  ),
  message_update: event('message_update', 'The assistant message grew.', {
    assistantMessageEvent: AssistantMessageEvent,
    message: optional(AssistantMessage),
    usage: optional(Usage),
  }),
  message_end: event('message_end', 'A message is complete and stored.', { message: AgentMessage }),
  tool_execution_start: event('tool_execution_start', 'A tool begins.', { ...tool, args: freeform() }),
  tool_execution_update: event(
    'tool_execution_update',
    'The tool made progress: `partialResult` is all output so far. In delta form, `outputDelta` is the new output.',
    {
      ...tool,
      args: optional(freeform('Absent in delta form.')),
      partialResult: optional(ToolProgress),
      outputDelta: optional(text('Absent for a tool that reports only its whole output.')),
      offset: optional(
        count(
          'The number of UTF-8 bytes of output before `outputDelta`. Beyond the end of the last delta: the bytes between were skipped.',
        ),
      ),
    },
  ),
  tool_execution_end: event('tool_execution_end', 'A tool is done. Sent in the order of completion.', {
    ...tool,
    result: ToolProgress,
    isError: flag(),
    durationMs: optional(count('The time that the tool ran. Absent if it did not run.')),
  }),
  heartbeat: event('heartbeat', 'The agent is alive; `blockedOn` names what its run waits for.', {
    runId: optional(text()),
    blockedOn: union([
      object(
        {
          kind: choice(['provider', 'tool', 'dialog', 'retry', 'compaction', 'client']),
          elapsedMs: count(),
          toolCallId: optional(text()),
          toolName: optional(text()),
        },
        'BlockedOn',
      ),
      { type: 'null' },
    ]),
  }),
} as const satisfies EventTable;
