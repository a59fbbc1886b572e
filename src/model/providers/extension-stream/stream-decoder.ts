import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../../protocol/json.ts';
import { classifyFailure } from '../../classify-failure.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import type { UsageUpdate } from '../../request.ts';
import { BlockWriter } from './block-writer.ts';
import {
  type BlockKind,
  blockAt,
  blockKind,
  endedBlock,
  errorMessageOf,
  isNonEmpty,
  malformedStream,
} from './event-fields.ts';
import { parseUsage } from './usage.ts';

interface BlockEvent {
  readonly stage: string;
  readonly event: JsonObject;
}

// A started block, with the events that arrived while another block was being written.
interface OpenBlock {
  readonly index: number;
  readonly writer: BlockWriter;
  readonly pending: BlockEvent[];
}

/** Decodes the events of an extension's stream, in pi's form, into a draft. */
export class ExtensionStreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  /** Blocks that have not ended. Only the first is in the draft, which has one open block. */
  readonly #open: OpenBlock[] = [];
  #blockCount = 0;
  #lastUsage = '';
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the response is complete. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Yields the steps of an event. Throws `ModelFailure` if the response failed or the event is malformed. */
  *decode(event: unknown): Generator<DraftStep | UsageUpdate> {
    if (!isObject(event) || typeof event['type'] !== 'string') throw malformedStream('something that is no event');
    const [, kind, stage = ''] = /^(text|thinking|toolcall)_(start|delta|end)$/.exec(event['type']) ?? [];
    if (kind !== undefined) yield* this.#addEvent(kind as BlockKind, { stage, event });
    if (stage !== 'delta') yield* this.#updateUsage(event['partial']);
    if (event['type'] === 'error') yield* this.#fail(event['error']);
    if (event['type'] === 'done') yield* this.#finish(event);
  }

  *#addEvent(kind: BlockKind, piece: BlockEvent): Generator<DraftStep> {
    const { contentIndex: index } = piece.event;
    if (typeof index !== 'number') throw malformedStream(`a ${kind}_${piece.stage} without a contentIndex`);
    const block =
      this.#open.find((one) => one.index === index && one.writer.kind === kind) ?? this.#openBlock(index, kind);
    block.pending.push(piece);
    if (block === this.#open[0]) yield* this.#writePending();
  }

  #openBlock(index: number, kind: BlockKind): OpenBlock {
    const block = { index, writer: new BlockWriter(kind, this.#draft), pending: [] };
    this.#open.push(block);
    this.#blockCount += 1;
    return block;
  }

  /** Writes the first block as far as it has arrived, and after its end the next ones. */
  *#writePending(): Generator<DraftStep> {
    for (let [block] = this.#open; block; [block] = this.#open) {
      const piece = block.pending.shift();
      if (!piece) return;
      yield* writeEvent(block, piece);
      if (piece.stage === 'end') this.#open.shift();
    }
  }

  /** Adds what the final message has beyond the streamed pieces. */
  *#finish({ message, reason }: JsonObject): Generator<DraftStep | UsageUpdate> {
    if (!isObject(message) || !Array.isArray(message['content'])) throw malformedStream('an end without a message');
    const { content, stopReason = reason, responseId, responseModel } = message;
    if (stopReason === 'error' || stopReason === 'aborted') yield* this.#fail(message);
    for (let [block] = this.#open; block; [block] = this.#open) {
      yield* this.#writePending();
      if (block !== this.#open[0]) continue;
      yield* block.writer.end(blockAt(block.writer.kind, message, block.index));
      this.#open.shift();
    }
    for (const whole of content.slice(this.#blockCount)) {
      yield* new BlockWriter(blockKind(whole), this.#draft).end(isObject(whole) ? whole : {});
    }
    yield* this.#updateUsage(message);
    this.#draft.setMetadata({
      ...(isNonEmpty(responseId) ? { responseId } : {}),
      ...(isNonEmpty(responseModel) ? { responseModel } : {}),
    });
    if (stopReason === 'length') this.#draft.stopReason = 'length';
    this.#isDone = true;
  }

  *#fail(error: unknown): Generator<UsageUpdate> {
    yield* this.#updateUsage(error);
    const { errorMessage } = isObject(error) ? error : {};
    throw classifyFailure({ message: isNonEmpty(errorMessage) ? errorMessage : errorMessageOf(error) });
  }

  *#updateUsage(message: unknown): Generator<UsageUpdate> {
    const usage = isObject(message) ? parseUsage(this.#model, message['usage']) : undefined;
    const serialised = JSON.stringify(usage);
    if (!usage || serialised === this.#lastUsage) return;
    this.#lastUsage = serialised;
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }
}

function* writeEvent({ writer, index }: OpenBlock, { stage, event }: BlockEvent): Generator<DraftStep> {
  if (stage === 'start') yield* writer.start(blockAt(writer.kind, event['partial'], index));
  else if (stage === 'end') yield* writer.end(endedBlock(writer.kind, event, index));
  else if (typeof event['delta'] === 'string') yield* writer.add(event['delta']);
  else throw malformedStream(`a ${writer.kind}_delta without a delta`);
}
