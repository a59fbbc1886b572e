import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { pricedUsage } from '../../priced-usage.ts';
import type { UsageUpdate } from '../../request.ts';
import { countsOf, finishOutcome } from './finish.ts';
import type { SdkStreamPart } from './language-model.ts';
import { sdkFailure } from './sdk-error.ts';

type PartOf<T extends SdkStreamPart['type']> = Extract<SdkStreamPart, { type: T }>;
type TextualPart = PartOf<`${'text' | 'reasoning'}-${'start' | 'delta' | 'end'}`>;

// The block that a part belongs to.
interface BlockRef {
  readonly kind: 'text' | 'reasoning' | 'call';
  readonly id: string;
}

interface CurrentBlock extends BlockRef {
  isEmpty: boolean;
  // The package's metadata as JSON; the block must be replayed with it.
  signature: string | undefined;
}

/** Decodes the stream parts of a package into a draft. */
export class AiSdkStreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  #current: CurrentBlock | undefined;
  /** Parts of other blocks that arrived during a tool call: a draft has one open block. */
  #deferred: SdkStreamPart[] = [];
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the response is complete. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Yields the steps of a part. Throws `ModelFailure` if the response failed. */
  *decode(part: SdkStreamPart): Generator<DraftStep | UsageUpdate> {
    const block = blockOf(part);
    if (block && this.#current?.kind === 'call' && !this.#isCurrent(block)) {
      this.#deferred.push(part);
      return;
    }
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
        yield* this.#addText({ kind: 'text', id: part.id }, part);
        break;
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        yield* this.#addText({ kind: 'reasoning', id: part.id }, part);
        break;
      case 'tool-input-start':
        if (!part.providerExecuted) yield* this.#startCall(part.id, part.toolName);
        break;
      case 'tool-input-delta':
        if (this.#isCurrent({ kind: 'call', id: part.id })) yield* this.#addArguments(part.delta);
        break;
      case 'tool-call':
        if (!part.providerExecuted) yield* this.#finishCall(part);
        break;
      case 'response-metadata':
        this.#setMetadata(part);
        break;
      case 'finish':
        yield* this.#finish(part);
        break;
      case 'error':
        throw sdkFailure(part.error);
    }
  }

  #isCurrent({ kind, id }: BlockRef): boolean {
    return this.#current?.kind === kind && this.#current.id === id;
  }

  *#addText(block: BlockRef, part: TextualPart): Generator<DraftStep> {
    if (!this.#isCurrent(block)) {
      // The end of a block that another one has replaced.
      if (part.type.endsWith('-end')) return;
      yield* this.#startBlock(block);
    }
    if ('delta' in part && part.delta !== '') {
      yield* block.kind === 'text' ? this.#draft.text(part.delta) : this.#draft.thinking(part.delta);
      this.#markWritten();
    }
    this.#setSignature(part.providerMetadata);
    if (part.type.endsWith('-end')) yield* this.#closeBlock();
  }

  *#startCall(id: string, name: string): Generator<DraftStep> {
    yield* this.#startBlock({ kind: 'call', id });
    yield* this.#draft.toolCall({ id, name });
  }

  *#addArguments(delta: string): Generator<DraftStep> {
    if (delta === '') return;
    yield* this.#draft.toolArguments(delta);
    this.#markWritten();
  }

  /** Ends a call, whether or not its arguments were streamed. */
  *#finishCall({
    toolCallId,
    toolName,
    input,
    providerMetadata,
  }: PartOf<'tool-call'>): Generator<DraftStep | UsageUpdate> {
    if (!this.#isCurrent({ kind: 'call', id: toolCallId })) yield* this.#startCall(toolCallId, toolName);
    if (this.#current?.isEmpty) yield* this.#addArguments(input === '' ? '{}' : input);
    this.#setSignature(providerMetadata);
    yield* this.#closeBlock();
    yield* this.#decodeDeferred();
  }

  *#finish(part: PartOf<'finish'>): Generator<DraftStep | UsageUpdate> {
    while (this.#current) {
      yield* this.#closeBlock();
      yield* this.#decodeDeferred();
    }
    const usage = pricedUsage(this.#model, countsOf(part.usage));
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
    const { stopReason, raw, failure } = finishOutcome(part.finishReason);
    if (raw !== undefined && raw !== stopReason) this.#draft.setMetadata({ rawStopReason: raw });
    if (failure) throw failure;
    this.#draft.stopReason = stopReason;
    this.#isDone = true;
  }

  *#decodeDeferred(): Generator<DraftStep | UsageUpdate> {
    for (const part of this.#deferred.splice(0)) yield* this.decode(part);
  }

  #setMetadata({ id, modelId }: PartOf<'response-metadata'>): void {
    if (id !== undefined) this.#draft.setMetadata({ responseId: id });
    if (modelId !== undefined) this.#draft.setMetadata({ responseModel: modelId });
  }

  *#startBlock(block: BlockRef): Generator<DraftStep> {
    yield* this.#closeBlock();
    this.#current = { ...block, isEmpty: true, signature: undefined };
  }

  #markWritten(): void {
    if (!this.#current) return;
    this.#current.isEmpty = false;
    if (this.#current.signature !== undefined) this.#draft.sign(this.#current.signature);
  }

  #setSignature(metadata: PartOf<'text-start'>['providerMetadata']): void {
    if (!this.#current || metadata === undefined) return;
    this.#current.signature = JSON.stringify(metadata);
    if (!this.#current.isEmpty) this.#draft.sign(this.#current.signature);
  }

  *#closeBlock(): Generator<DraftStep> {
    const closed = this.#current;
    this.#current = undefined;
    if (closed?.kind === 'reasoning' && closed.isEmpty) {
      if (closed.signature !== undefined) yield* this.#draft.redactedThinking(closed.signature);
    } else yield* this.#draft.close();
  }
}

function blockOf(part: SdkStreamPart): BlockRef | undefined {
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
