import { messageOf } from '../protocol/errors.ts';
import type { ContentBlock, ToolCall, Usage } from '../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../protocol/json.ts';
import type { ToolResult } from './hooks.ts';
import { type NestedCallOptions, type NestedOutcome, type OtherTools, type Tool, textOutput } from './tool.ts';

/** Records of nested calls that a tool result keeps; later calls run without a record. */
export const MAX_NESTED_RECORDS = 256;
/** Bytes of the recorded arguments of all nested calls of a tool call. */
export const MAX_NESTED_ARGUMENT_BYTES = 32 * 1024;
/** Nested calls within nested calls. */
export const MAX_NESTED_DEPTH = 16;

const MAX_NESTED_ERROR_CHARACTERS = 500;

interface NestedRecord {
  readonly id: string;
  readonly name: string;
  readonly arguments?: unknown;
  readonly argumentsBytes?: number;
  status: 'unfinished' | 'ok' | 'error';
  durationMs?: number;
  error?: string;
}

/** A tool call, and the call that its caller runs for. */
export interface MadeCall extends ToolCall {
  readonly parentToolCallId?: string;
}

interface NestedCallsParts {
  readonly caller: MadeCall;
  readonly tools: () => readonly Tool[];
  /** Runs a call with its events, hooks and checks; never rejects. */
  readonly run: (call: MadeCall, options: NestedCallOptions & { signal: AbortSignal }) => Promise<ToolResult>;
  readonly signal: AbortSignal;
}

/** The calls that a tool makes while it runs, and what its own result keeps of them. */
export class NestedCalls implements OtherTools {
  readonly #parts: NestedCallsParts;
  readonly #ended = new AbortController();
  readonly #pending = new Set<Promise<unknown>>();
  readonly #records: NestedRecord[] = [];
  #count = 0;
  #argumentBytes = 0;
  #isComplete = true;
  #usage: Usage | undefined;
  /** Settles when no exclusive call runs. */
  #exclusive: Promise<unknown> = Promise.resolve();

  constructor(parts: NestedCallsParts) {
    this.#parts = parts;
  }

  readonly all = (): readonly Tool[] => this.#parts.tools();

  /** Runs another tool. Never rejects for a failure of the tool, but does when the call of the caller has ended. */
  readonly execute = async (name: string, args: unknown, options: NestedCallOptions = {}): Promise<NestedOutcome> => {
    if (this.#ended.signal.aborted) throw new Error('The tool call has ended');
    const { caller, run, signal: ownSignal } = this.#parts;
    const id = `${caller.id}/${++this.#count}`;
    const { given, problem } = copyArguments(args);
    const toolCall: MadeCall = {
      type: 'toolCall',
      id,
      name: String(name),
      arguments: given,
      parentToolCallId: caller.id,
    };
    const record = this.#record(toolCall);
    const signal = AbortSignal.any([ownSignal, this.#ended.signal, ...(options.signal ? [options.signal] : [])]);
    const work =
      problem === undefined
        ? this.#inTurn(toolCall.name, () => run(toolCall, { ...options, signal }))
        : Promise.resolve<ToolResult>({ ...textOutput(problem), details: {}, isError: true });
    this.#pending.add(work);
    const { isError, durationMs, nestedCalls: _own, ...result } = await work.finally(() => this.#pending.delete(work));
    if (record)
      Object.assign(record, recordedEnd(result.content, isError), durationMs === undefined ? {} : { durationMs });
    if (result.usage) this.#usage = sumUsage(this.#usage, result.usage);
    const { parentToolCallId: _caller, ...plainCall } = toolCall;
    return { toolCall: plainCall, result, isError, ...(durationMs === undefined ? {} : { durationMs }) };
  };

  /** Stops the calls that still run, and returns the fields that the result of the caller gets. */
  async end(): Promise<{ nestedCalls?: object; usage?: Usage }> {
    this.#ended.abort();
    if (this.#count === 0) return {};
    await Promise.allSettled(this.#pending);
    const nestedCalls = { calls: this.#records, complete: this.#isComplete };
    return { nestedCalls, ...(this.#usage ? { usage: this.#usage } : {}) };
  }

  /** A call of a sequential tool runs alone among the nested calls. */
  #inTurn(name: string, work: () => Promise<ToolResult>): Promise<ToolResult> {
    const isExclusive = this.#parts.tools().some((tool) => tool.name === name && tool.executionMode === 'sequential');
    const before = isExclusive ? [this.#exclusive, ...this.#pending] : [this.#exclusive];
    const running = Promise.allSettled(before).then(work);
    if (isExclusive) this.#exclusive = running;
    return running;
  }

  #record(call: MadeCall): NestedRecord | undefined {
    if (this.#records.length >= MAX_NESTED_RECORDS) {
      this.#isComplete = false;
      return undefined;
    }
    const argumentsBytes = Buffer.byteLength(JSON.stringify(call.arguments));
    const fits = this.#argumentBytes + argumentsBytes <= MAX_NESTED_ARGUMENT_BYTES;
    if (fits) this.#argumentBytes += argumentsBytes;
    else this.#isComplete = false;
    const { id, name } = call;
    const record: NestedRecord = {
      id,
      name,
      ...(fits ? { arguments: call.arguments } : { argumentsBytes }),
      status: 'unfinished',
    };
    this.#records.push(record);
    return record;
  }
}

interface CopiedArguments {
  readonly given: JsonObject;
  readonly problem?: string;
}

/** A JSON copy of the arguments. Those without one, such as a cycle, can be neither sent nor stored. */
function copyArguments(args: unknown): CopiedArguments {
  try {
    const copy: unknown = JSON.parse(JSON.stringify(args ?? {}));
    return { given: isObject(copy) ? copy : {} };
  } catch (error) {
    return { given: {}, problem: `The arguments are not JSON: ${messageOf(error)}` };
  }
}

function recordedEnd(content: readonly ContentBlock[], isError: boolean) {
  if (!isError) return { status: 'ok' as const };
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return { status: 'error' as const, ...(text ? { error: text.slice(0, MAX_NESTED_ERROR_CHARACTERS) } : {}) };
}

/** The sum of two usages, or the second one alone. */
export function sumUsage(first: Usage | undefined, second: Usage): Usage {
  if (!first) return second;
  const total = (usage: Usage) => usage.totalTokens ?? usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  return {
    input: first.input + second.input,
    output: first.output + second.output,
    cacheRead: first.cacheRead + second.cacheRead,
    cacheWrite: first.cacheWrite + second.cacheWrite,
    totalTokens: total(first) + total(second),
    cost: {
      input: first.cost.input + second.cost.input,
      output: first.cost.output + second.cost.output,
      cacheRead: first.cost.cacheRead + second.cost.cacheRead,
      cacheWrite: first.cost.cacheWrite + second.cost.cacheWrite,
      total: first.cost.total + second.cost.total,
    },
  };
}
