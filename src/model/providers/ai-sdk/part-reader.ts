import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, Step } from '../../draft.ts';
import { usageOf } from '../../price.ts';
import type { UsageNews } from '../../request.ts';
import { failureFrom } from './failure.ts';
import { endOf } from './finish.ts';
import type { Part } from './language-model.ts';
import { countsOf } from './usage.ts';

type PartOf<T extends Part['type']> = Extract<Part, { type: T }>;
type Prose = PartOf<`${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}`>;

/** Which block a part is about. */
interface Place {
  readonly kind: 'text' | 'reasoning' | 'call';
  readonly id: string;
}

/** The block that is being written. */
interface Current extends Place {
  isEmpty: boolean;
  /** What the package wants to see again when the block is replayed, as JSON. */
  seal: string | undefined;
}

/** Reads the parts of an answer into a draft. */
export class PartReader {
  readonly #model: Model;
  readonly #draft: Draft;
  #current: Current | undefined;
  /** What came for other blocks while a tool call was being written: a draft has one block open at a time. */
  #held: Part[] = [];
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the answer is whole. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** The steps that a part makes. Throws `ModelFailure` for an answer that failed. */
  *read(part: Part): Generator<Step | UsageNews> {
    const place = placeOf(part);
    if (place && this.#current?.kind === 'call' && !this.#isAt(place)) {
      this.#held.push(part);
      return;
    }
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        yield* this.#prose({ kind: 'text', id: part.id }, part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        yield* this.#prose({ kind: 'reasoning', id: part.id }, part);
        break;
      case 'tool-input-start':
        if (!part.providerExecuted) yield* this.#beginCall(part.id, part.toolName);
        break;
      case 'tool-input-delta':
        if (this.#isAt({ kind: 'call', id: part.id })) yield* this.#arguments(part.delta);
        break;
      case 'tool-call':
        if (!part.providerExecuted) yield* this.#call(part);
        break;
      case 'response-metadata':
        this.#name(part);
        break;
      case 'finish':
        yield* this.#finish(part);
        break;
      case 'error':
        throw failureFrom(part.error);
    }
  }

  #isAt({ kind, id }: Place): boolean {
    return this.#current?.kind === kind && this.#current.id === id;
  }

  *#prose(place: Place, part: Prose): Generator<Step> {
    if (!this.#isAt(place)) {
      // The end of a block that made room for another.
      if (part.type.endsWith('-end')) return;
      yield* this.#turnTo(place);
    }
    if ('delta' in part && part.delta !== '') {
      yield* place.kind === 'text' ? this.#draft.text(part.delta) : this.#draft.thinking(part.delta);
      this.#written();
    }
    this.#seal(part.providerMetadata);
    if (part.type.endsWith('-end')) yield* this.#leave();
  }

  *#beginCall(id: string, name: string): Generator<Step> {
    yield* this.#turnTo({ kind: 'call', id });
    yield* this.#draft.toolCall({ id, name });
  }

  *#arguments(delta: string): Generator<Step> {
    if (delta === '') return;
    yield* this.#draft.toolArguments(delta);
    this.#written();
  }

  /** A whole call, whether or not its arguments were told piece by piece. */
  *#call({ toolCallId, toolName, input, providerMetadata }: PartOf<'tool-call'>): Generator<Step | UsageNews> {
    if (!this.#isAt({ kind: 'call', id: toolCallId })) yield* this.#beginCall(toolCallId, toolName);
    if (this.#current?.isEmpty) yield* this.#arguments(input === '' ? '{}' : input);
    this.#seal(providerMetadata);
    yield* this.#leave();
    yield* this.#release();
  }

  *#finish(part: PartOf<'finish'>): Generator<Step | UsageNews> {
    while (this.#current) {
      yield* this.#leave();
      yield* this.#release();
    }
    const usage = usageOf(this.#model, countsOf(part.usage));
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
    const { stopReason, raw, failure } = endOf(part.finishReason);
    if (raw !== undefined && raw !== stopReason) this.#draft.note({ rawStopReason: raw });
    if (failure) throw failure;
    this.#draft.stopReason = stopReason;
    this.#isDone = true;
  }

  *#release(): Generator<Step | UsageNews> {
    for (const part of this.#held.splice(0)) yield* this.read(part);
  }

  #name({ id, modelId }: PartOf<'response-metadata'>): void {
    if (id !== undefined) this.#draft.note({ responseId: id });
    if (modelId !== undefined) this.#draft.note({ responseModel: modelId });
  }

  *#turnTo(place: Place): Generator<Step> {
    yield* this.#leave();
    this.#current = { ...place, isEmpty: true, seal: undefined };
  }

  #written(): void {
    if (!this.#current) return;
    this.#current.isEmpty = false;
    if (this.#current.seal !== undefined) this.#draft.sign(this.#current.seal);
  }

  #seal(metadata: PartOf<'text-start'>['providerMetadata']): void {
    if (!this.#current || metadata === undefined) return;
    this.#current.seal = JSON.stringify(metadata);
    if (!this.#current.isEmpty) this.#draft.sign(this.#current.seal);
  }

  *#leave(): Generator<Step> {
    const left = this.#current;
    this.#current = undefined;
    if (left?.kind === 'reasoning' && left.isEmpty) {
      if (left.seal !== undefined) yield* this.#draft.redacted(left.seal);
    } else yield* this.#draft.close();
  }
}

function placeOf(part: Part): Place | undefined {
  switch (part.type) {
    case 'text-start':
    case 'text-delta':
    case 'text-end':
      return { kind: 'text', id: part.id };
    case 'reasoning-start':
    case 'reasoning-delta':
    case 'reasoning-end':
      return { kind: 'reasoning', id: part.id };
    case 'tool-input-start':
    case 'tool-input-delta':
    case 'tool-input-end':
      return { kind: 'call', id: part.id };
    case 'tool-call':
      return { kind: 'call', id: part.toolCallId };
    default:
      return undefined;
  }
}
