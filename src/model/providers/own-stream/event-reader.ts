import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { isObject, type JsonObject } from '../../../store/json-file.ts';
import type { Draft, Step } from '../../draft.ts';
import { failureOf } from '../../failure.ts';
import type { UsageNews } from '../../request.ts';
import { BlockWriter } from './block-writer.ts';
import { isFilled, nonsense, wordsOf } from './foreign.ts';
import { usageIn } from './usage.ts';
import { type Kind, kindOf, wholeAt, wholeIn } from './whole-block.ts';

/** What an event says of a block. */
interface Piece {
  readonly stage: string;
  readonly event: JsonObject;
}

/** A block that has begun, with what came for it while another was being written. */
interface Begun {
  readonly index: number;
  readonly writer: BlockWriter;
  readonly waiting: Piece[];
}

/** Reads the events of an extension's stream, in the form that pi gives them, into a draft. */
export class EventReader {
  readonly #model: Model;
  readonly #draft: Draft;
  /** Those that have not ended; only the first is in the draft, which has one block open at a time. */
  readonly #open: Begun[] = [];
  #blocks = 0;
  #counted = '';
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the answer is whole. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The steps that an event makes. Throws `ModelFailure` for an answer that failed, and for what is no event. */
  *read(event: unknown): Generator<Step | UsageNews> {
    if (!isObject(event) || typeof event['type'] !== 'string') throw nonsense('something that is no event');
    const [, kind, stage = ''] = /^(text|thinking|toolcall)_(start|delta|end)$/.exec(event['type']) ?? [];
    if (kind !== undefined) yield* this.#hear(kind as Kind, { stage, event });
    if (stage !== 'delta') yield* this.#count(event['partial']);
    if (event['type'] === 'error') yield* this.#fail(event['error']);
    if (event['type'] === 'done') yield* this.#finish(event);
  }

  *#hear(kind: Kind, piece: Piece): Generator<Step> {
    const { contentIndex: index } = piece.event;
    if (typeof index !== 'number') throw nonsense(`a ${kind}_${piece.stage} without a contentIndex`);
    const block = this.#open.find((one) => one.index === index && one.writer.kind === kind) ?? this.#begin(index, kind);
    block.waiting.push(piece);
    if (block === this.#open[0]) yield* this.#catchUp();
  }

  #begin(index: number, kind: Kind): Begun {
    const block = { index, writer: new BlockWriter(kind, this.#draft), waiting: [] };
    this.#open.push(block);
    this.#blocks += 1;
    return block;
  }

  /** Writes what is there of the first block, and where it ends of those behind it. */
  *#catchUp(): Generator<Step> {
    for (let [block] = this.#open; block; [block] = this.#open) {
      const piece = block.waiting.shift();
      if (!piece) return;
      yield* write(block, piece);
      if (piece.stage === 'end') this.#open.shift();
    }
  }

  /** Takes the whole message at its word where it says more than was told piece by piece. */
  *#finish({ message, reason }: JsonObject): Generator<Step | UsageNews> {
    if (!isObject(message) || !Array.isArray(message['content'])) throw nonsense('an end without a message');
    const { content, stopReason = reason, responseId, responseModel } = message;
    if (stopReason === 'error' || stopReason === 'aborted') yield* this.#fail(message);
    for (let [block] = this.#open; block; [block] = this.#open) {
      yield* this.#catchUp();
      if (block !== this.#open[0]) continue;
      yield* block.writer.end(wholeAt(block.writer.kind, message, block.index));
      this.#open.shift();
    }
    for (const whole of content.slice(this.#blocks)) {
      yield* new BlockWriter(kindOf(whole), this.#draft).end(isObject(whole) ? whole : {});
    }
    yield* this.#count(message);
    this.#draft.note({
      ...(isFilled(responseId) ? { responseId } : {}),
      ...(isFilled(responseModel) ? { responseModel } : {}),
    });
    if (stopReason === 'length') this.#draft.stopReason = 'length';
    this.#isDone = true;
  }

  *#fail(error: unknown): Generator<UsageNews> {
    yield* this.#count(error);
    const { errorMessage } = isObject(error) ? error : {};
    throw failureOf({ message: isFilled(errorMessage) ? errorMessage : wordsOf(error) });
  }

  *#count(message: unknown): Generator<UsageNews> {
    const usage = isObject(message) ? usageIn(this.#model, message['usage']) : undefined;
    const counted = JSON.stringify(usage);
    if (!usage || counted === this.#counted) return;
    this.#counted = counted;
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }
}

function* write({ writer, index }: Begun, { stage, event }: Piece): Generator<Step> {
  if (stage === 'start') yield* writer.start(wholeAt(writer.kind, event['partial'], index));
  else if (stage === 'end') yield* writer.end(wholeIn(writer.kind, event, index));
  else if (typeof event['delta'] === 'string') yield* writer.add(event['delta']);
  else throw nonsense(`a ${writer.kind}_delta without a delta`);
}
