import type { Model, StopReason } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { pricedUsage } from '../../priced-usage.ts';
import { ModelFailure, type UsageUpdate } from '../../request.ts';
import type { StreamDecoder, StreamEventData } from '../stream-decoder.ts';
import { parseEvent, type StreamEvent, type TokenReport } from './event.ts';

/** Decodes the events of a Messages stream into a draft. */
export class AnthropicStreamDecoder implements StreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  #tokens: TokenReport = {};
  /** The input in the start of the open tool call, until a delta replaces it. */
  #blockInput: object | undefined;
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  *decode(event: StreamEventData): Generator<DraftStep | UsageUpdate, void> {
    if (!this.#isDone) yield* this.#handle(parseEvent(event));
  }

  *#handle(event: StreamEvent): Generator<DraftStep | UsageUpdate, void> {
    switch (event.type) {
      case 'message_start':
        this.#setMetadata(event);
        yield* this.#updateUsage(event.message?.usage);
        return;
      case 'content_block_start':
        yield* this.#startBlock(event.content_block);
        return;
      case 'content_block_delta':
        yield* this.#addDelta(event.delta);
        return;
      case 'content_block_stop':
        yield* this.#closeBlock();
        return;
      case 'message_delta':
        yield* this.#updateUsage(event.usage);
        this.#setStopReason(event.delta);
        return;
      case 'message_stop':
        this.#isDone = true;
        return;
    }
  }

  #setMetadata({ message: { id: responseId, model: responseModel } = {} }: StreamEvent): void {
    this.#draft.setMetadata({
      ...(responseId === undefined ? {} : { responseId }),
      ...(responseModel === undefined ? {} : { responseModel }),
    });
  }

  #startBlock(block: StreamEvent['content_block']): DraftStep[] {
    switch (block?.type) {
      case 'text':
        return this.#addText(block.text);
      case 'thinking':
        // Empty thinking also has a signature that must be replayed.
        return this.#draft.thinking(block.thinking ?? '');
      case 'redacted_thinking':
        return this.#draft.redactedThinking(block.data ?? '');
      case 'tool_use':
        return this.#startCall(block);
      default:
        return [];
    }
  }

  // Some servers send the whole input at once, without deltas.
  #startCall({ id = '', name = '', input = {} }: NonNullable<StreamEvent['content_block']>): DraftStep[] {
    const opening = this.#draft.toolCall({ id, name });
    this.#blockInput = Object.keys(input).length > 0 ? input : undefined;
    return opening;
  }

  #closeBlock(): DraftStep[] {
    const input = this.#blockInput;
    this.#blockInput = undefined;
    return [...(input ? this.#draft.toolArguments(JSON.stringify(input)) : []), ...this.#draft.close()];
  }

  #addDelta(delta: StreamEvent['delta']): DraftStep[] {
    switch (delta?.type) {
      case 'text_delta':
        return this.#addText(delta.text);
      case 'thinking_delta':
        return delta.thinking ? this.#draft.thinking(delta.thinking) : [];
      case 'signature_delta':
        if (delta.signature) this.#draft.sign(delta.signature);
        return [];
      case 'input_json_delta':
        return delta.partial_json ? this.#addArguments(delta.partial_json) : [];
      default:
        return [];
    }
  }

  #addArguments(piece: string): DraftStep[] {
    this.#blockInput = undefined;
    return this.#draft.toolArguments(piece);
  }

  #addText(text: string | undefined): DraftStep[] {
    return text ? this.#draft.text(text) : [];
  }

  #setStopReason(delta: StreamEvent['delta']): void {
    if (!delta?.stop_reason) return;
    this.#draft.setMetadata({ rawStopReason: delta.stop_reason });
    this.#draft.stopReason = stopReasonOf(delta.stop_reason, delta.stop_details?.explanation ?? undefined);
  }

  #updateUsage(report: TokenReport = {}): UsageUpdate[] {
    const counts = Object.entries(report).filter(([, count]) => typeof count === 'number');
    const before = JSON.stringify(this.#tokens);
    this.#tokens = { ...this.#tokens, ...Object.fromEntries(counts) };
    if (JSON.stringify(this.#tokens) === before) return [];
    const usage = pricedUsage(this.#model, {
      input: this.#tokens.input_tokens ?? 0,
      output: this.#tokens.output_tokens ?? 0,
      cacheRead: this.#tokens.cache_read_input_tokens ?? 0,
      cacheWrite: this.#tokens.cache_creation_input_tokens ?? 0,
    });
    this.#draft.usage = usage;
    return [{ type: 'usage', usage }];
  }
}

/** Maps the reason for the end. Throws if it is a failure, with the server's explanation. */
function stopReasonOf(reason: string, explanation: string | undefined): StopReason {
  switch (reason) {
    case 'max_tokens':
      return 'length';
    case 'tool_use':
      return 'toolUse';
    case 'refusal':
      throw new ModelFailure('model_error', ['The model refused to answer', explanation].filter(Boolean).join(': '));
    case 'model_context_window_exceeded':
      throw new ModelFailure('context_overflow', 'The answer no longer fitted the context window of the model');
    default:
      return 'stop';
  }
}
