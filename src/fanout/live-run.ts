import { joinParts, type OutputPart, partOf } from '../protocol/events/tool-output.ts';
import type {
  AgentEvent,
  AutoRetryStartEvent,
  ToolExecutionUpdateEvent,
  ToolProgress,
} from '../protocol/generated/vocabulary.ts';

/** The activity of a session at one moment, beside its conversation: a pure function of its events. */
export interface LiveRun {
  /** From `agent_start` to `agent_settled`. */
  readonly running: boolean;
  readonly tools: readonly RunningTool[];
  readonly retry: PendingRetry | undefined;
  readonly compacting: boolean;
}

/** A tool call without its result. */
export interface RunningTool {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly progress: ToolProgress | undefined;
  /** The end of the output, if it came in delta form. */
  readonly output?: OutputPart | undefined;
}

// Output of a running tool that a late client gets.
const MAX_RECENT_OUTPUT = 64 * 1024;

/** A failed model call that will be repeated. */
export type PendingRetry = Readonly<Pick<AutoRetryStartEvent, 'attempt' | 'maxAttempts' | 'delayMs' | 'errorMessage'>>;

export const idleRun: LiveRun = { running: false, tools: [], retry: undefined, compacting: false };

/** The run after one more event. Other events return the same object. */
export function reduceRun<R extends LiveRun>(run: R, event: AgentEvent): R {
  switch (event.type) {
    case 'agent_start':
      return { ...run, running: true };
    case 'agent_settled':
      return { ...run, running: false, tools: [], retry: undefined };
    case 'tool_execution_start': {
      const { toolCallId, toolName, args } = event;
      return { ...run, tools: [...withoutTool(run, toolCallId), { toolCallId, toolName, args, progress: undefined }] };
    }
    case 'tool_execution_update': {
      const { toolCallId: id } = event;
      return { ...run, tools: run.tools.map((tool) => (tool.toolCallId === id ? withProgress(tool, event) : tool)) };
    }
    case 'tool_execution_end':
      return { ...run, tools: withoutTool(run, event.toolCallId) };
    case 'auto_retry_start': {
      const { attempt, maxAttempts, delayMs, errorMessage } = event;
      return { ...run, retry: { attempt, maxAttempts, delayMs, errorMessage } };
    }
    case 'auto_retry_end':
      return { ...run, retry: undefined };
    case 'compaction_start':
      return { ...run, compacting: true };
    case 'compaction_end':
      return { ...run, compacting: false };
    default:
      return run;
  }
}

/** The events that report the retry and the tools of a run to a client that arrives later. */
export function* eventsOfRun({ tools, retry }: LiveRun): Generator<AgentEvent> {
  if (retry) yield { type: 'auto_retry_start', ...retry };
  for (const { progress, output, ...call } of tools) {
    yield { type: 'tool_execution_start', ...call };
    const delta = output && { outputDelta: output.text, offset: output.offset };
    if (progress) yield { type: 'tool_execution_update', ...call, partialResult: progress, ...delta };
  }
}

function withProgress(tool: RunningTool, update: ToolExecutionUpdateEvent): RunningTool {
  const output = joinParts(tool.output, partOf(update), MAX_RECENT_OUTPUT);
  const shown = output && { content: [{ type: 'text' as const, text: output.text }] };
  return { ...tool, progress: update.partialResult ?? shown ?? tool.progress, ...(output ? { output } : {}) };
}

const withoutTool = ({ tools }: LiveRun, id: string) => tools.filter(({ toolCallId }) => toolCallId !== id);
