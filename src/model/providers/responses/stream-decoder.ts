import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { classifyFailure } from '../../classify-failure.ts';
import { type Draft, type DraftStep, parseArguments } from '../../draft.ts';
import { errorText } from '../../http/error-response.ts';
import { pricedUsage } from '../../priced-usage.ts';
import type { ModelFailure, UsageUpdate } from '../../request.ts';
import { parseEventData, type StreamDecoder, type StreamEventData, textAfter } from '../stream-decoder.ts';
import type { OutputItem, ResponseError, ResponseEvent, ResponseState } from './events.ts';
import { ItemSequencer } from './item-sequencer.ts';
import { messageSignature, reasoningSignature } from './signatures.ts';

const PARAGRAPH = '\n\n';

/** Decodes the events of a Responses stream into a draft. */
export class ResponsesStreamDecoder implements StreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #sequencer = new ItemSequencer();
  /** The pieces of the current item in the draft, none of them empty. */
  #written: string[] = [];
  /** Whether the next piece of thinking begins a part of the summary. */
  #isNewPart = false;
  #hasCall = false;
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the server has completed the response. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *decode(event: StreamEventData): Generator<DraftStep | UsageUpdate, void> {
    // Some servers append the end marker of chat completions.
    if (this.#isDone) return;
    for (const due of this.#dueAfter(event)) yield* this.#handle(due);
  }

  *#dueAfter(event: StreamEventData): Generator<ResponseEvent, void> {
    let value: ResponseEvent;
    try {
      value = parseEventData(event);
    } catch (error) {
      yield* this.#sequencer.flush();
      throw error;
    }
    yield* this.#sequencer.next(value);
  }

  *#handle(event: ResponseEvent): Generator<DraftStep | UsageUpdate, void> {
    switch (event.type) {
      case 'response.created':
        return this.#setMetadata(event.response);
      case 'response.output_item.added':
        return yield* this.#startItem(event.item);
      case 'response.reasoning_summary_part.added':
        this.#isNewPart = true;
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return yield* this.#addThinking(event.delta);
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return yield* this.#addText(event.delta);
      case 'response.function_call_arguments.delta':
        return yield* this.#addArguments(event.delta);
      case 'response.function_call_arguments.done':
        return yield* this.#addArguments(this.#unwritten(event.arguments));
      case 'response.output_item.done':
        return yield* this.#endItem(event.item ?? {});
      case 'response.completed':
        yield* this.#addOutput(event.response);
        return yield* this.#finish({ status: 'completed', ...event.response });
      case 'response.incomplete':
        return yield* this.#finish({ status: 'incomplete', ...event.response });
      case 'response.failed':
        yield* this.#updateUsage(event.response ?? {});
        throw responseFailure(event.response?.error ?? {});
    }
  }

  #setMetadata({ id, model }: ResponseState = {}): void {
    this.#draft.setMetadata({
      ...(id === undefined ? {} : { responseId: id }),
      ...(model === undefined ? {} : { responseModel: model }),
    });
  }

  // Some servers send the items only with the complete response.
  *#addOutput({ output }: ResponseState = {}): Generator<DraftStep, void> {
    if (!this.#draft.isEmpty) return;
    for (const item of output ?? []) {
      yield* this.#startItem(item);
      yield* this.#endItem(item);
    }
  }

  #startItem(item: OutputItem = {}): DraftStep[] {
    this.#written = [];
    this.#isNewPart = false;
    this.#hasCall = item.type === 'function_call';
    if (!this.#hasCall) return [];
    const { call_id = '', id, name = '' } = item;
    return this.#draft.toolCall({ id: id === undefined ? call_id : `${call_id}|${id}`, name });
  }

  #addThinking(delta = ''): DraftStep[] {
    if (delta === '') return [];
    const piece = this.#isNewPart && this.#hasText ? PARAGRAPH + delta : delta;
    this.#isNewPart = false;
    this.#written.push(piece);
    return this.#draft.thinking(piece);
  }

  #addText(delta = ''): DraftStep[] {
    if (delta === '') return [];
    this.#written.push(delta);
    return this.#draft.text(delta);
  }

  #addArguments(delta = ''): DraftStep[] {
    if (delta === '') return [];
    this.#written.push(delta);
    return this.#draft.toolArguments(delta);
  }

  /** The part of a whole text that was not streamed. */
  #unwritten(whole = ''): string {
    return textAfter(this.#written.join(''), whole);
  }

  get #hasText(): boolean {
    return this.#written.length > 0;
  }

  *#endItem(item: OutputItem): Generator<DraftStep, void> {
    switch (item.type) {
      case 'reasoning':
        yield* this.#endReasoning(item);
        break;
      case 'message':
        yield* this.#addText(this.#unwritten(joined(item.content, '')));
        if (this.#hasText) this.#sign(messageSignature(item));
        break;
      case 'function_call':
        if (!this.#hasCall) yield* this.#startItem(item);
        yield* this.#addArguments(this.#unwritten(item.arguments));
        break;
    }
    yield* this.#draft.close(item.type === 'function_call' ? this.#otherArguments(item) : undefined);
    this.#written = [];
    this.#hasCall = false;
  }

  // The arguments of the complete call win over streamed ones that differ.
  #otherArguments({ arguments: whole = '' }: OutputItem): Record<string, unknown> | undefined {
    return whole === '' || whole === this.#written.join('') ? undefined : parseArguments(whole);
  }

  *#endReasoning(item: OutputItem): Generator<DraftStep, void> {
    if (!this.#hasText) yield* this.#addThinking(joined(item.summary, PARAGRAPH) || joined(item.content, PARAGRAPH));
    const signature = reasoningSignature(item);
    if (this.#hasText) this.#sign(signature);
    else if (signature !== undefined) yield* this.#draft.redactedThinking(signature);
  }

  #sign(signature: string | undefined): void {
    if (signature !== undefined) this.#draft.sign(signature);
  }

  *#updateUsage({ usage }: ResponseState): Generator<UsageUpdate, void> {
    if (!usage) return;
    const { cached_tokens: cacheRead = 0, cache_write_tokens: cacheWrite = 0 } = usage.input_tokens_details ?? {};
    const reasoning = usage.output_tokens_details?.reasoning_tokens;
    const counted = pricedUsage(this.#model, {
      input: Math.max(0, (usage.input_tokens ?? 0) - cacheRead - cacheWrite),
      output: usage.output_tokens ?? 0,
      cacheRead,
      cacheWrite,
      ...(reasoning === undefined ? {} : { reasoning }),
    });
    this.#draft.usage = counted;
    yield { type: 'usage', usage: counted };
  }

  *#finish(response: ResponseState & { status: string }): Generator<UsageUpdate, void> {
    const { status, incomplete_details: details } = response;
    this.#setMetadata(response);
    this.#draft.setMetadata({ rawStopReason: details?.reason ?? status });
    yield* this.#updateUsage(response);
    if (status === 'incomplete') {
      const { reason = 'max_output_tokens' } = details ?? {};
      if (reason !== 'max_output_tokens') throw classifyFailure({ message: `The answer was cut short: ${reason}` });
      this.#draft.stopReason = 'length';
    }
    this.#isDone = true;
  }
}

const joined = (parts: readonly { text?: string; refusal?: string }[] | null | undefined, between: string): string =>
  (parts ?? []).map(({ text, refusal }) => text ?? refusal ?? '').join(between);

function responseFailure({ message, code, type }: ResponseError): ModelFailure {
  return classifyFailure({
    message: errorText({ message, code: code ?? type }) ?? 'The model failed without a reason',
  });
}
