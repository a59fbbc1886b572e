import { AGENT_ENDED } from '../model/call-model.ts';
import { check } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { joinToolUpdates } from '../protocol/events/tool-output.ts';
import type { ToolCall, ToolResultMessage } from '../protocol/generated/vocabulary.ts';
import type { AgentHooks, EndedCall, ToolResult } from './hooks.ts';
import type { LoopEvent } from './loop.ts';
import { MAX_NESTED_DEPTH, type MadeCall, NestedCalls, sumUsage } from './nested-calls.ts';
import type { FinalCall, Permission, Permit } from './permission.ts';
import { type Tool, ToolError, type ToolInvocation, type ToolOutput, type ToolUpdate, textOutput } from './tool.ts';
import { ToolEventQueue } from './tool-event-queue.ts';
import { throwIfAborted, unlessAborted } from './unless-aborted.ts';

// A call gets an error result if its tool has not stopped this long after an abort.
const STOP_GRACE_MS = 5000;

export interface ToolRun {
  readonly calls: readonly ToolCall[];
  readonly tools: readonly Tool[];
  /** Tools that tools may call; by default `tools`. */
  readonly callable?: (() => readonly Tool[]) | undefined;
  readonly hooks: AgentHooks;
  /** Decides whether a call may run; absent, or undefined when it is read: every call may. */
  readonly permit?: (() => Permit | undefined) | undefined;
  readonly signal: AbortSignal;
  /** True: run one call at a time and skip the rest once `isInterrupted` returns true. */
  readonly sequential: boolean;
  readonly isInterrupted: () => boolean;
  /** Called if every tool requested the end of the run. */
  readonly onTerminate?: () => void;
}

/**
 * Runs the tool calls of one message. Start events come in call order, end events in completion order, result messages
 * in call order. Every call gets a start, an end and a result while its reader keeps reading.
 */
export async function* runTools(run: ToolRun): AsyncGenerator<LoopEvent, ToolResultMessage[]> {
  const results: ToolResult[] = [];
  if (run.sequential || run.calls.some((call) => isSequential(call, run))) {
    for (const [index, call] of run.calls.entries()) {
      const skip = run.sequential && index > 0 && run.isInterrupted();
      results.push(yield* skip ? refuseCall(call, 'Skipped due to queued user message.') : runOne(call, run));
    }
  } else results.push(...(yield* runAll(run)));
  if (results.length > 0 && results.every(({ terminate }) => terminate === true)) run.onTerminate?.();
  return run.calls.map((call, index) => resultMessage(call, results[index] ?? errorResult('No result')));
}

const isSequential = ({ name }: ToolCall, { tools }: ToolRun): boolean =>
  tools.find((tool) => tool.name === name)?.executionMode === 'sequential';

/** Returns the same error result for every call without running it. */
export async function* refuseTools(calls: readonly ToolCall[], reason: string) {
  const messages: ToolResultMessage[] = [];
  for (const call of calls) messages.push(resultMessage(call, yield* refuseCall(call, reason)));
  return messages;
}

async function* runAll(run: ToolRun): AsyncGenerator<LoopEvent, ToolResult[]> {
  const queue = new ToolEventQueue<LoopEvent>();
  for (const call of run.calls) yield startEvent(call);
  const results = run.calls.map((call) => runWithEvents({ call, run, queue, depth: 0 }));
  const all = Promise.all(results).finally(() => queue.end());
  try {
    for await (const event of queue) yield event;
  } finally {
    // Also if the reader stops early: a run never ends before its tools.
    await all;
  }
  return all;
}

/** A call, and the queue that carries its events and those of its nested calls. */
interface RunningCall {
  readonly call: MadeCall;
  readonly run: ToolRun;
  readonly queue: ToolEventQueue<LoopEvent>;
  readonly depth: number;
  readonly onUpdate?: ToolInvocation['update'] | undefined;
}

async function runWithEvents(running: RunningCall): Promise<ToolResult> {
  const { call, queue, onUpdate } = running;
  let isRunning = true;
  const result = await runCall(running, (progress) => {
    if (!isRunning) return;
    queue.pushMerged(call.id, updateEvent(call, progress), mergeUpdates);
    onUpdate?.(progress);
  });
  isRunning = false;
  queue.push(endEvent(call, result));
  return result;
}

function nestedCallsOf({ call: caller, run, queue, depth }: RunningCall): NestedCalls {
  const tools = run.callable ?? (() => run.tools);
  return new NestedCalls({
    caller,
    tools,
    signal: run.signal,
    run: async (call, { signal, update }) => {
      queue.push(startEvent(call));
      const nested = { ...run, tools: depth < MAX_NESTED_DEPTH ? tools() : [], signal };
      return runWithEvents({ call, run: nested, queue, depth: depth + 1, onUpdate: update });
    },
  });
}

async function* runOne(call: ToolCall, run: ToolRun): AsyncGenerator<LoopEvent, ToolResult> {
  const [result] = yield* runAll({ ...run, calls: [call] });
  return result ?? errorResult('No result');
}

async function* refuseCall(call: ToolCall, reason: string): AsyncGenerator<LoopEvent, ToolResult> {
  const result = errorResult(reason);
  yield startEvent(call);
  yield endEvent(call, result);
  return result;
}

/** Never rejects: a failing tool fails for the model, not for the run. */
async function runCall(running: RunningCall, update: ToolInvocation['update']): Promise<ToolResult> {
  const { call, run } = running;
  const nested = nestedCallsOf(running);
  const clock = { startedAt: undefined as number | undefined };
  let args: Readonly<Record<string, unknown>> = call.arguments;
  let result: ToolResult;
  try {
    throwIfAborted(run.signal);
    const tool = toolFor(call, run);
    // Hooks see the arguments that the tool would run with.
    args = preparedArguments(call, tool);
    args = await permittedArguments({ ...call, arguments: args }, run);
    const invocation = { toolCallId: call.id, args, signal: run.signal, update, otherTools: nested };
    await checkArguments(invocation, tool, call);
    const permit = run.permit?.();
    const permission = permit ? await permissionFor({ call, tool, args }, permit, run) : undefined;
    clock.startedAt = performance.now();
    const permitted = permission ? { ...invocation, permission } : invocation;
    result = { ...(await withStopGrace(tool.execute(permitted), run.signal)), isError: false };
  } catch (error) {
    result = error instanceof ToolError ? { ...error.output, isError: true } : errorResult(messageOf(error));
  }
  const durationMs =
    clock.startedAt === undefined ? {} : { durationMs: Math.round(performance.now() - clock.startedAt) };
  const { usage, ...record } = await nested.end();
  const measured = { ...result, ...durationMs, ...record, ...(usage ? { usage: sumUsage(result.usage, usage) } : {}) };
  return markInterrupted((await reviewedResult({ call, args, result: measured }, run)) ?? measured, run);
}

/** Distinguishes a call that failed because the agent ended from one that a user stopped. */
const markInterrupted = (result: ToolResult, { signal }: ToolRun): ToolResult =>
  result.isError && signal.reason === AGENT_ENDED
    ? { ...result, details: { ...(result.details as object), interrupted: true } }
    : result;

/** Returns the arguments that the call may run with; throws if a hook blocks it. */
async function permittedArguments(
  call: MadeCall,
  { hooks, signal }: ToolRun,
): Promise<Readonly<Record<string, unknown>>> {
  throwIfAborted(signal);
  const verdict = hooks.toolCall ? await unlessAborted(hooks.toolCall(call, signal), signal) : undefined;
  throwIfAborted(signal);
  if (!verdict) return call.arguments;
  if ('block' in verdict) {
    const { block, terminate } = verdict;
    const output = { ...textOutput(block || 'Tool execution was blocked'), details: { denied: true } };
    throw new ToolError({ ...output, ...(terminate ? { terminate } : {}) });
  }
  return verdict.args;
}

/** Returns what the call may reach; throws if it may not run. */
async function permissionFor(call: FinalCall, permit: Permit, { signal }: ToolRun): Promise<Permission> {
  const permission = await unlessAborted(permit(call, signal), signal);
  throwIfAborted(signal);
  return permission as Permission;
}

function toolFor({ name }: ToolCall, { tools }: ToolRun): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`Tool ${name} not found`);
  return tool;
}

const preparedArguments = (call: ToolCall, { prepareArguments }: Tool): ToolCall['arguments'] =>
  prepareArguments ? { ...prepareArguments(structuredClone(call.arguments)) } : call.arguments;

async function checkArguments({ args }: ToolInvocation, tool: Tool, call: ToolCall): Promise<void> {
  const problem = tool.findProblem ? await tool.findProblem(args) : check(tool.parameters, args);
  if (problem) throw new Error(invalidArgumentsText(tool.name, problem, call.arguments));
}

async function reviewedResult(endedCall: EndedCall, { hooks, signal }: ToolRun): Promise<ToolResult | undefined> {
  try {
    const replaced = hooks.toolResult ? await unlessAborted(hooks.toolResult(endedCall, signal), signal) : undefined;
    return Array.isArray(replaced?.content) ? { ...endedCall.result, ...replaced } : undefined;
  } catch {
    return undefined;
  }
}

/** Settles with the work, or rejects if it has not stopped `STOP_GRACE_MS` after the abort. */
function withStopGrace<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onAbort = () => {
      timer = setTimeout(() => reject(new Error('The tool did not stop after the abort')), STOP_GRACE_MS);
    };
    const finish = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(finish).catch(reject);
  });
}

const errorResult = (text: string): ToolResult => ({ ...textOutput(text), details: {}, isError: true });

const eventFields = ({ id, name, parentToolCallId }: MadeCall) => ({
  toolCallId: id,
  toolName: name,
  ...(parentToolCallId === undefined ? {} : { parentToolCallId }),
});

const startEvent = (call: MadeCall): LoopEvent => ({
  type: 'tool_execution_start',
  ...eventFields(call),
  args: call.arguments,
});

const updateEvent = (call: MadeCall, { added, ...output }: ToolUpdate): LoopEvent => ({
  type: 'tool_execution_update',
  ...eventFields(call),
  args: call.arguments,
  partialResult: shownOutput(output),
  ...(added ? { outputDelta: added.text, offset: added.offset } : {}),
});

const mergeUpdates = (earlier: LoopEvent, later: LoopEvent): LoopEvent =>
  earlier.type === 'tool_execution_update' && later.type === earlier.type ? joinToolUpdates(earlier, later) : later;

const shownOutput = ({ content, details, structuredContent }: ToolOutput) => ({
  content,
  ...(details === undefined ? {} : { details }),
  ...(structuredContent === undefined ? {} : { structuredContent }),
});

const endEvent = (call: MadeCall, { isError, durationMs, ...output }: ToolResult): LoopEvent => ({
  type: 'tool_execution_end',
  ...eventFields(call),
  result: shownOutput(output),
  isError,
  ...(durationMs === undefined ? {} : { durationMs }),
});

const resultMessage = (call: ToolCall, result: ToolResult): ToolResultMessage => {
  const { content, details, isError, usage, nestedCalls, durationMs } = result;
  return {
    role: 'toolResult',
    toolCallId: call.id,
    toolName: call.name,
    content,
    ...(details === undefined ? {} : { details }),
    isError,
    timestamp: Date.now(),
    ...(usage === undefined ? {} : { usage }),
    ...(nestedCalls === undefined ? {} : { nestedCalls }),
    ...(durationMs === undefined ? {} : { durationMs }),
  };
};

// The model has its own arguments; the error repeats only their beginning.
const MAX_ECHO_CHARACTERS = 2000;

function invalidArgumentsText(name: string, problem: string, args: unknown): string {
  const text = JSON.stringify(args, null, 2);
  const echo = text.length > MAX_ECHO_CHARACTERS ? `${text.slice(0, MAX_ECHO_CHARACTERS)}…` : text;
  const [path, ...reason] = problem.split(' ');
  return `Validation failed for tool "${name}":\n  - ${path}: ${reason.join(' ')}\n\nReceived arguments:\n${echo}`;
}
