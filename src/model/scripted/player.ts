import { randomBytes } from 'node:crypto';
import type { ModelCost, Usage } from '../../protocol/generated/vocabulary.ts';
import type { Draft } from '../draft.ts';
import { pricedUsage } from '../priced-usage.ts';
import type { ModelRequest, Provider, ToolSpec, UsageUpdate } from '../request.ts';
import { countBytes, tokensForBytes } from '../token-estimate.ts';
import { converse } from './conversation/converse.ts';
import { emitSteps, type StepBatch } from './emit-steps.ts';
import { cut, overflow, refusal } from './failures.ts';
import { type Script, scriptReader } from './script.ts';
import type { Pacing, ScriptedCall, ScriptedStep, TokenCounts } from './step.ts';
import { pause, waitForAbort, waitForFile } from './wait.ts';

const SLOW_MODEL = 'scripted-slow';
const WORD_DELAY_MS = 25;

/** The built-in model: plays a script, or converses without one. */
export function scriptedProvider({ script }: { script?: Script | undefined }): Provider {
  const stepsFor = script ? scriptReader(script) : converse;
  return (request, draft) =>
    emitSteps(play(stepsFor(request), { request, draft, written: 0, hasUsage: false }), request.signal);
}

interface PlayState {
  readonly request: ModelRequest;
  readonly draft: Draft;
  /** Counts characters. */
  written: number;
  hasUsage: boolean;
}

function* play(steps: readonly ScriptedStep[], state: PlayState): Generator<StepBatch, void> {
  if (!isRejected(steps)) state.request.onOpen?.();
  try {
    for (const step of steps) {
      for (const batch of performStep(step, state)) yield batch;
    }
    yield state.draft.close();
    if (!state.hasUsage) yield recordUsage(estimatedUsage(state.request, state.written), state);
  } finally {
    // The response was stopped early. A response that failed at once costs nothing.
    if (!state.hasUsage && state.written > 0) recordUsage(estimatedUsage(state.request, state.written), state);
  }
}

// A refusal at the beginning stands for a server that rejects the request.
const isRejected = ([first]: readonly ScriptedStep[]) =>
  first !== undefined && ('error' in first || 'overflow' in first);

function performStep(step: ScriptedStep, state: PlayState): Iterable<StepBatch> {
  const { draft, request } = state;
  if ('text' in step || 'thinking' in step) return emitText(step, state);
  if ('toolCall' in step) return emitCall(step, state);
  if ('usage' in step) return [recordUsage(scriptedUsage(step.usage, request.model.cost), state)];
  if ('error' in step) throw refusal(step.error);
  if ('overflow' in step) throw overflow();
  if ('cut' in step) throw cut();
  if ('stall' in step) return [waitForAbort(request.signal)];
  if ('await' in step) return [waitForFile(step.await, request.signal)];
  if ('delayMs' in step) return [pause(step.delayMs, request.signal)];
  draft.stopReason = step.stop;
  return [];
}

type TextStep = Extract<ScriptedStep, { text: string } | { thinking: string }>;

function* emitText(step: TextStep, state: PlayState): Generator<StepBatch, void> {
  const { draft, request } = state;
  const isText = 'text' in step;
  const delayMs = step.delayMs ?? (request.model.id === SLOW_MODEL ? WORD_DELAY_MS : undefined);
  for (const chunk of chunksOf(isText ? step.text : step.thinking, step)) {
    if (delayMs !== undefined) yield pause(delayMs, request.signal);
    state.written += countBytes(chunk);
    yield isText ? draft.text(chunk) : draft.thinking(chunk);
  }
}

function chunksOf(text: string, { chunks, times }: Pacing): Iterable<string> {
  if (times !== undefined) return repeatedChunks(text, times);
  return chunks === undefined ? wordChunks(text) : equalChunks(text, chunks);
}

type CallStep = Extract<ScriptedStep, { toolCall: ScriptedCall }>;

function* emitCall({ toolCall, ...pacing }: CallStep, state: PlayState): Generator<StepBatch, void> {
  const { name, id = `call_${randomBytes(8).toString('hex')}`, arguments: values = {} } = toolCall;
  yield state.draft.toolCall({ id, name });
  const deltas = equalChunks(toolCall.rawArguments ?? JSON.stringify(values), pacing.chunks ?? 1);
  for (const [index, piece] of deltas.entries()) {
    const isLast = index === deltas.length - 1;
    if (isLast && pacing.await !== undefined) yield waitForFile(pacing.await, state.request.signal);
    state.written += countBytes(piece);
    yield state.draft.toolArguments(piece);
  }
  yield state.draft.close();
}

function recordUsage(usage: Usage, state: PlayState): readonly UsageUpdate[] {
  state.draft.usage = usage;
  state.hasUsage = true;
  return [{ type: 'usage', usage }];
}

/** Splits a text into words with their surrounding space. A text without words is one chunk. */
export const wordChunks = (text: string): readonly string[] => text.match(/(?:^\s+)?\S+\s*/g) ?? [text];

/** Splits a text into at most `count` chunks of nearly equal length, never inside a character. */
export function equalChunks(text: string, count: number): readonly string[] {
  if (count === 1) return [text];
  const characters = Array.from(text);
  const total = Math.max(1, Math.min(count, characters.length));
  const edge = (index: number) => Math.floor((index * characters.length) / total);
  return Array.from({ length: total }, (_, index) => characters.slice(edge(index), edge(index + 1)).join(''));
}

export function* repeatedChunks(text: string, times: number): Generator<string, void> {
  for (let done = 0; done < times; done += 1) yield text;
}

/** Adds the total and the cost to token counts. */
const scriptedUsage = ({ input = 0, output = 0, ...cached }: TokenCounts, cost: ModelCost): Usage =>
  pricedUsage({ cost }, { input, output, ...cached });

/** Estimates the usage of a response from the bytes of request and response. */
function estimatedUsage(request: ModelRequest, bytesWritten: number): Usage {
  const messageBytes = sum(request.messages, ({ content }) => countBytes(content));
  const inputBytes = messageBytes + sum(request.tools, toolBytes) + countBytes(request.systemPrompt);
  return scriptedUsage({ input: tokensForBytes(inputBytes), output: tokensForBytes(bytesWritten) }, request.model.cost);
}

const toolBytes = ({ name, description, parameters }: ToolSpec): number =>
  countBytes(name) + countBytes(description) + countBytes(JSON.stringify(parameters));

const sum = <Item>(items: readonly Item[], measure: (item: Item) => number): number =>
  items.reduce((total, item) => total + measure(item), 0);
