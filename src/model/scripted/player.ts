import { randomBytes } from 'node:crypto';
import type { Usage } from '../../protocol/generated/vocabulary.ts';
import type { Draft } from '../draft.ts';
import type { ModelRequest, Provider, UsageNews } from '../request.ts';
import { type Beat, stream } from './beats.ts';
import { pieces, repeated, words } from './chunks.ts';
import { converse } from './conversation.ts';
import { cut, overflow, refusal } from './failures.ts';
import { scriptReader } from './reader.ts';
import type { Script } from './script.ts';
import type { Pacing, ScriptedCall, ScriptedStep } from './step.ts';
import { estimated, priced } from './usage.ts';
import { appeared, pause, stalled } from './wait.ts';

const SLOW_MODEL = 'scripted-slow';
const READING_PACE_MS = 25;

/** The built-in model: plays a script, or converses when it has none. */
export function scriptedProvider({ script }: { script?: Script | undefined }): Provider {
  const answerTo = script ? scriptReader(script) : converse;
  return (request, draft) =>
    stream(play(answerTo(request), { request, draft, written: 0, usageKnown: false }), request.signal);
}

interface Stage {
  readonly request: ModelRequest;
  readonly draft: Draft;
  /** Characters so far. */
  written: number;
  usageKnown: boolean;
}

function* play(steps: readonly ScriptedStep[], stage: Stage): Generator<Beat, void> {
  try {
    for (const step of steps) {
      for (const beat of perform(step, stage)) yield beat;
    }
    yield stage.draft.close();
    if (!stage.usageKnown) yield tell(estimated(stage.request, stage.written), stage);
  } finally {
    // The answer was stopped half-way. One that was refused outright costs nothing.
    if (!stage.usageKnown && stage.written > 0) tell(estimated(stage.request, stage.written), stage);
  }
}

function perform(step: ScriptedStep, stage: Stage): Iterable<Beat> {
  const { draft, request } = stage;
  if ('text' in step || 'thinking' in step) return prose(step, stage);
  if ('toolCall' in step) return call(step, stage);
  if ('usage' in step) return [tell(priced(step.usage, request.model.cost), stage)];
  if ('error' in step) throw refusal(step.error);
  if ('overflow' in step) throw overflow();
  if ('cut' in step) throw cut();
  if ('stall' in step) return [stalled(request.signal)];
  if ('await' in step) return [appeared(step.await, request.signal)];
  if ('delayMs' in step) return [pause(step.delayMs, request.signal)];
  draft.stopReason = step.stop;
  return [];
}

type Prose = Extract<ScriptedStep, { text: string } | { thinking: string }>;

function* prose(step: Prose, stage: Stage): Generator<Beat, void> {
  const { draft, request } = stage;
  const isText = 'text' in step;
  const delayMs = step.delayMs ?? (request.model.id === SLOW_MODEL ? READING_PACE_MS : undefined);
  for (const chunk of chunksOf(isText ? step.text : step.thinking, step)) {
    if (delayMs !== undefined) yield pause(delayMs, request.signal);
    stage.written += chunk.length;
    yield isText ? draft.text(chunk) : draft.thinking(chunk);
  }
}

function chunksOf(text: string, { chunks, times }: Pacing): Iterable<string> {
  if (times !== undefined) return repeated(text, times);
  return chunks === undefined ? words(text) : pieces(text, chunks);
}

type Call = Extract<ScriptedStep, { toolCall: ScriptedCall }>;

function* call({ toolCall: made, ...pacing }: Call, stage: Stage): Generator<Beat, void> {
  const { name, id = `call_${randomBytes(8).toString('hex')}`, arguments: values = {} } = made;
  yield stage.draft.toolCall({ id, name });
  const deltas = pieces(made.rawArguments ?? JSON.stringify(values), pacing.chunks ?? 1);
  for (const [index, piece] of deltas.entries()) {
    const isLast = index === deltas.length - 1;
    if (isLast && pacing.await !== undefined) yield appeared(pacing.await, stage.request.signal);
    stage.written += piece.length;
    yield stage.draft.toolArguments(piece);
  }
  yield stage.draft.close();
}

function tell(usage: Usage, stage: Stage): readonly UsageNews[] {
  stage.draft.usage = usage;
  stage.usageKnown = true;
  return [{ type: 'usage', usage }];
}
