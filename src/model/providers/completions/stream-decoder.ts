import type { Model, RunError } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { pricedUsage } from '../../priced-usage.ts';
import { ModelFailure, type UsageUpdate } from '../../request.ts';
import { isInterruption, parseEventData, type StreamEventData, textAfter } from '../stream-decoder.ts';
import { BlockSequencer } from './blocks.ts';
import type { ChunkDelta, CompletionsChunk } from './chunk.ts';
import type { Quirks } from './quirks.ts';
import { ReasoningDetails } from './reasoning-details.ts';
import { textDeltas } from './text-deltas.ts';
import { type ToolCallDelta, ToolCallDeltas } from './tool-call-deltas.ts';
import { parseCounts } from './usage.ts';

type Events = AsyncIterable<StreamEventData>;

/** Decodes a stream of chunks to its end. An interruption after the finish reason does not matter. */
export async function* decodeCompletions(events: Events, decoder: CompletionsStreamDecoder) {
  try {
    for await (const event of events) for (const step of decoder.decode(event)) yield step;
  } catch (error) {
    if (!(decoder.hasFinishReason && isInterruption(error))) throw error;
  }
  yield* decoder.end();
}

/** Decodes the chunks of one response into a draft. */
export class CompletionsStreamDecoder {
  #hasFinishReason = false;
  #isDone = false;
  readonly #needsFinishReason: boolean;
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #blocks: BlockSequencer;
  readonly #calls: ToolCallDeltas;
  readonly #details = new ReasoningDetails();
  #lastCounts = '';
  #failure: ModelFailure | undefined;

  constructor(model: Model, draft: Draft, { supportsFinishReason }: Pick<Quirks, 'supportsFinishReason'>) {
    this.#needsFinishReason = supportsFinishReason;
    this.#model = model;
    this.#draft = draft;
    this.#blocks = new BlockSequencer(draft);
    this.#calls = new ToolCallDeltas(this.#blocks);
  }

  /** Whether the finish reason is known. Usage may follow. */
  get hasFinishReason(): boolean {
    return this.#hasFinishReason;
  }

  /** Whether the server has sent the end marker. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *decode(event: StreamEventData): Generator<DraftStep | UsageUpdate> {
    if (event.data === '[DONE]') {
      this.#hasFinishReason = true;
      this.#isDone = true;
    }
    if (!this.#isDone) yield* this.#applyChunk(parseEventData<CompletionsChunk>(event));
  }

  *#applyChunk({ id, model, choices, usage, x_groq }: CompletionsChunk): Generator<DraftStep | UsageUpdate> {
    const [choice] = choices ?? [];
    if (typeof id === 'string' && id !== '') this.#draft.setMetadata({ responseId: id });
    if (typeof model === 'string' && model !== '' && model !== this.#model.id)
      this.#draft.setMetadata({ responseModel: model });
    if (choice?.delta) yield* this.#applyDelta(choice.delta);
    else if (choice?.message) yield* this.#applyMessage(choice.message);
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') this.#finish(choice.finish_reason);
    yield* this.#updateUsage(usage ?? choice?.usage ?? x_groq?.usage);
  }

  /** Emits the pending blocks. Throws if the response has no normal end. */
  *end(): Generator<DraftStep> {
    if (this.#needsFinishReason && !this.#hasFinishReason)
      throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
    yield* this.#blocks.end();
    const { signature } = this.#details;
    if (signature !== undefined) yield* this.#draft.redactedThinking(signature);
    if (this.#failure) throw this.#failure;
  }

  *#applyDelta(delta: ChunkDelta): Generator<DraftStep> {
    for (const textDelta of textDeltas(delta)) yield* this.#blocks.addText(textDelta);
    this.#details.add(delta['reasoning_details']);
    yield* this.#applyCalls(delta);
  }

  *#applyCalls(delta: ChunkDelta): Generator<DraftStep> {
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls)) return;
    for (const call of calls as readonly (ToolCallDelta | null)[]) {
      if (!call) continue;
      this.#calls.add(call);
      yield* this.#blocks.flush();
    }
  }

  // A whole message adds what was not streamed before.
  *#applyMessage(message: ChunkDelta): Generator<DraftStep> {
    if (this.#draft.isEmpty) return yield* this.#applyDelta(message);
    for (const delta of textDeltas(message)) {
      const text = textAfter(this.#draft.streamed(delta.kind), delta.text);
      if (text !== '') yield* this.#blocks.addText({ ...delta, text });
    }
    if (!this.#draft.hasToolCall) yield* this.#applyCalls(message);
  }

  #finish(reason: string): void {
    this.#hasFinishReason = true;
    this.#failure = finishFailure(reason);
    // The draft itself detects tool use.
    if (reason === 'length') this.#draft.stopReason = 'length';
    else if (reason !== 'stop') this.#draft.setMetadata({ rawStopReason: reason });
  }

  *#updateUsage(reported: unknown): Generator<UsageUpdate> {
    const counts = parseCounts(reported);
    const serialised = JSON.stringify(counts);
    if (!counts || serialised === this.#lastCounts) return;
    this.#lastCounts = serialised;
    const usage = pricedUsage(this.#model, counts);
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }
}

// Finish reasons of several servers that report a failure.
const failureCodes: Readonly<Record<string, RunError>> = {
  content_filter: 'model_error',
  sensitive: 'model_error',
  error: 'model_error',
  network_error: 'connection_lost',
  insufficient_system_resource: 'overloaded',
  model_context_window_exceeded: 'context_overflow',
};

/** The failure that a finish reason reports; undefined for a normal end. */
function finishFailure(reason: string): ModelFailure | undefined {
  const code = Object.hasOwn(failureCodes, reason) ? failureCodes[reason] : undefined;
  return code && new ModelFailure(code, `The provider broke the answer off: ${reason}`);
}
