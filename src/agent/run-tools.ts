import { AGENT_ENDED } from '../model/call-model.ts';
import { check } from '../protocol/check.ts';
import { messageOf } from '../protocol/errors.ts';
import { joinToolUpdates } from '../protocol/events/tool-output.ts';
import type { ToolCall, ToolResultMessage } from '../protocol/generated/vocabulary.ts';
import type { AgentHooks, EndedCall, ToolResult } from './hooks.ts';
import type { LoopEvent } from './loop.ts';
import { type Tool, ToolError, type ToolInvocation, type ToolOutput, type ToolUpdate, textOutput } from './tool.ts';
import { ToolEventQueue } from './tool-event-queue.ts';
import { throwIfAborted, unlessAborted } from './unless-aborted.ts';

// A call gets an error result if its tool has not stopped this long after an abort.
const STOP_GRACE_MS = 5000;

export interface ToolRun {
  readonly calls: readonly ToolCall[];
  readonly tools: readonly Tool[];
  readonly hooks: AgentHooks;
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
  if (run.sequential) {
    for (const [index, call] of run.calls.entries()) {
      const skip = index > 0 && run.isInterrupted();
      results.push(yield* skip ? refuseCall(call, 'Skipped due to queued user message.') : runOne(call, run));
    }
  } else results.push(...(yield* runAll(run)));
  if (results.length > 0 && results.every(({ terminate }) => terminate === true)) run.onTerminate?.();
  return run.calls.map((call, index) => resultMessage(call, results[index] ?? errorResult('No result')));
}

/** Returns the same error result for every call without running it. */
export async function* refuseTools(calls: readonly ToolCall[], reason: string) {
  const messages: ToolResultMessage[] = [];
  for (const call of calls) messages.push(resultMessage(call, yield* refuseCall(call, reason)));
  return messages;
}

async function* runAll(run: ToolRun): AsyncGenerator<LoopEvent, ToolResult[]> {
  const queue = new ToolEventQueue<LoopEvent>();
  for (const call of run.calls) yield startEvent(call);
  const results = run.calls.map(async (call) => {
    let running = true;
    const result = await runCall(call, run, (progress) => {
      if (running) queue.pushMerged(call.id, updateEvent(call, progress), mergeUpdates);
    });
    running = false;
    queue.push(endEvent(call, result));
    return result;
  });
  const all = Promise.all(results).finally(() => queue.end());
  try {
    for await (const event of queue) yield event;
  } finally {
    // Also if the reader stops early: a run never ends before its tools.
    await all;
  }
  return all;
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
async function runCall(call: ToolCall, run: ToolRun, update: ToolInvocation['update']): Promise<ToolResult> {
  let args: Readonly<Record<string, unknown>> = call.arguments;
  let result: ToolResult;
  try {
    throwIfAborted(run.signal);
    const tool = toolFor(call, run);
    // Hooks see the arguments that the tool would run with.
    args = preparedArguments(call, tool);
    args = await permittedArguments({ ...call, arguments: args }, run);
    const invocation = { toolCallId: call.id, args, signal: run.signal, update };
    result = { ...(await checkAndExecute(invocation, tool, call)), isError: false };
  } catch (error) {
    result = error instanceof ToolError ? { ...error.output, isError: true } : errorResult(messageOf(error));
  }
  return markInterrupted((await reviewedResult({ call, args, result }, run)) ?? result, run);
}

/** Distinguishes a call that failed because the agent ended from one that a user stopped. */
const markInterrupted = (result: ToolResult, { signal }: ToolRun): ToolResult =>
  result.isError && signal.reason === AGENT_ENDED
    ? { ...result, details: { ...(result.details as object), interrupted: true } }
    : result;

/** Returns the arguments that the call may run with; throws if a hook blocks it. */
async function permittedArguments(
  call: ToolCall,
  { hooks, signal }: ToolRun,
): Promise<Readonly<Record<string, unknown>>> {
  throwIfAborted(signal);
  const verdict = hooks.toolCall ? await unlessAborted(hooks.toolCall(call, signal), signal) : undefined;
  throwIfAborted(signal);
  if (!verdict) return call.arguments;
  if ('block' in verdict)
    throw new ToolError({ ...textOutput(verdict.block || 'Tool execution was blocked'), details: { denied: true } });
  return verdict.args;
}

function toolFor({ name }: ToolCall, { tools }: ToolRun): Tool {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`Tool ${name} not found`);
  return tool;
}

const preparedArguments = (call: ToolCall, { prepareArguments }: Tool): ToolCall['arguments'] =>
  prepareArguments ? { ...prepareArguments(structuredClone(call.arguments)) } : call.arguments;

async function checkAndExecute(invocation: ToolInvocation, tool: Tool, call: ToolCall): Promise<ToolOutput> {
  const { args } = invocation;
  const problem = tool.findProblem ? await tool.findProblem(args) : check(tool.parameters, args);
  if (problem) throw new Error(invalidArgumentsText(tool.name, problem, call.arguments));
  return withStopGrace(tool.execute(invocation), invocation.signal);
}

async function reviewedResult(endedCall: EndedCall, { hooks, signal }: ToolRun): Promise<ToolResult | undefined> {
  try {
    const replaced = hooks.toolResult ? await unlessAborted(hooks.toolResult(endedCall, signal), signal) : undefined;
    return Array.isArray(replaced?.content) ? replaced : undefined;
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

const startEvent = (call: ToolCall): LoopEvent => ({
  type: 'tool_execution_start',
  toolCallId: call.id,
  toolName: call.name,
  args: call.arguments,
});

const updateEvent = (call: ToolCall, { added, ...partialResult }: ToolUpdate): LoopEvent => ({
  type: 'tool_execution_update',
  toolCallId: call.id,
  toolName: call.name,
  args: call.arguments,
  partialResult,
  ...(added ? { outputDelta: added.text, offset: added.offset } : {}),
});

const mergeUpdates = (earlier: LoopEvent, later: LoopEvent): LoopEvent =>
  earlier.type === 'tool_execution_update' && later.type === earlier.type ? joinToolUpdates(earlier, later) : later;

const endEvent = (call: ToolCall, { isError, terminate: _last, ...result }: ToolResult): LoopEvent => ({
  type: 'tool_execution_end',
  toolCallId: call.id,
  toolName: call.name,
  result,
  isError,
});

const resultMessage = (call: ToolCall, { content, details, isError }: ToolResult): ToolResultMessage => ({
  role: 'toolResult',
  toolCallId: call.id,
  toolName: call.name,
  content,
  ...(details === undefined ? {} : { details }),
  isError,
  timestamp: Date.now(),
});

// The model has its own arguments; the error repeats only their beginning.
const MAX_ECHO_CHARACTERS = 2000;

function invalidArgumentsText(name: string, problem: string, args: unknown): string {
  const text = JSON.stringify(args, null, 2);
  const echo = text.length > MAX_ECHO_CHARACTERS ? `${text.slice(0, MAX_ECHO_CHARACTERS)}…` : text;
  const [path, ...reason] = problem.split(' ');
  return `Validation failed for tool "${name}":\n  - ${path}: ${reason.join(' ')}\n\nReceived arguments:\n${echo}`;
}
