import type { Model } from '../../../protocol/generated/vocabulary.ts';
import { classifyFailure } from '../../classify-failure.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { pricedUsage } from '../../priced-usage.ts';
import type { ModelMessage, ModelRequest, UsageUpdate } from '../../request.ts';
import { parseEventData, type StreamDecoder, type StreamEventData } from '../stream-decoder.ts';
import type { Candidate, ChunkUsage, FunctionCall, GoogleChunk, GooglePart } from './chunk.ts';

/** Decodes the chunks of a Gemini stream into a draft. */
export class GoogleStreamDecoder implements StreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #ids: ToolCallIds;
  #responseId: string | undefined;
  #lastCounts = '';
  #isDone = false;
  #hasOpenChunk = false;

  constructor({ model, messages }: ModelRequest, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
    this.#ids = new ToolCallIds(messages);
  }

  /** Whether the finish reason has arrived; the API has no other end marker. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /**
   * Whether no content follows. Some servers send a finish reason with every chunk: then only the end of the stream
   * shows it.
   */
  get isEnding(): boolean {
    return this.#isDone && this.#hasOpenChunk;
  }

  *decode(event: StreamEventData): Generator<DraftStep | UsageUpdate, void> {
    // Some servers append the end marker of chat completions.
    if (this.#isDone && event.data === '[DONE]') return;
    const chunk = parseEventData<GoogleChunk>(event);
    this.#setMetadata(chunk);
    const [candidate = {}] = chunk.candidates ?? [];
    for (const part of candidate.content?.parts ?? []) yield* this.#addPart(part);
    if (chunk.usageMetadata) yield* this.#updateUsage(chunk.usageMetadata);
    const { blockReason, blockReasonMessage } = chunk.promptFeedback ?? {};
    if (blockReason) {
      throw classifyFailure({ message: `${blockReasonMessage || 'The provider blocked the prompt'} (${blockReason})` });
    }
    this.#finish(candidate);
  }

  #setMetadata({ responseId, modelVersion }: GoogleChunk): void {
    this.#responseId ??= responseId;
    this.#draft.setMetadata({
      ...(responseId === undefined ? {} : { responseId }),
      ...(modelVersion === undefined ? {} : { responseModel: modelVersion }),
    });
  }

  *#addPart({ text, thought, thoughtSignature, functionCall }: GooglePart): Generator<DraftStep, void> {
    if (functionCall) return yield* this.#addCall(functionCall, thoughtSignature);
    if (text) yield* thought ? this.#draft.thinking(text) : this.#draft.text(text);
    // It may arrive after its text, in a part of its own.
    if (thoughtSignature) this.#draft.sign(thoughtSignature);
  }

  *#addCall({ id, name = '', args = {} }: FunctionCall, signature: string | undefined): Generator<DraftStep, void> {
    yield* this.#draft.toolCall({ id: this.#ids.next(id, this.#responseId), name });
    yield* this.#draft.toolArguments(JSON.stringify(args));
    if (signature) this.#draft.sign(signature);
    yield* this.#draft.close();
  }

  *#updateUsage(counts: ChunkUsage): Generator<UsageUpdate, void> {
    const serialised = JSON.stringify(counts);
    if (serialised === this.#lastCounts) return;
    this.#lastCounts = serialised;
    const {
      promptTokenCount = 0,
      cachedContentTokenCount = 0,
      candidatesTokenCount = 0,
      toolUsePromptTokenCount = 0,
      thoughtsTokenCount,
    } = counts;
    const usage = pricedUsage(this.#model, {
      input: Math.max(0, promptTokenCount - cachedContentTokenCount) + toolUsePromptTokenCount,
      output: candidatesTokenCount + (thoughtsTokenCount ?? 0),
      cacheRead: cachedContentTokenCount,
      ...(thoughtsTokenCount === undefined ? {} : { reasoning: thoughtsTokenCount }),
    });
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }

  #finish({ content, finishReason, finishMessage }: Candidate): void {
    if (!finishReason) {
      this.#hasOpenChunk ||= content !== undefined;
      return;
    }
    this.#draft.setMetadata({ rawStopReason: finishReason });
    if (finishReason === 'MAX_TOKENS') this.#draft.stopReason = 'length';
    else if (finishReason !== 'STOP') {
      throw classifyFailure({ message: `${finishMessage || 'The model did not finish its answer'} (${finishReason})` });
    }
    this.#isDone = true;
  }
}

/** Gives every tool call an id that is unique in the conversation; the server often sends none. */
class ToolCallIds {
  readonly #taken: Set<string>;
  #count = 0;

  constructor(messages: readonly ModelMessage[]) {
    this.#taken = new Set(messages.flatMap(idsIn));
  }

  /** The server's id if it is free, else one made from the index of the call. */
  next(given: string | undefined, responseId: string | undefined): string {
    this.#count += 1;
    const preferred = given || `${responseId ?? 'call'}_${this.#count}`;
    let id = preferred;
    for (let copy = 2; this.#taken.has(id); copy += 1) id = `${preferred}_${copy}`;
    this.#taken.add(id);
    return id;
  }
}

const idsIn = (message: ModelMessage): string[] =>
  message.role === 'assistant' ? message.content.flatMap((block) => (block.type === 'toolCall' ? [block.id] : [])) : [];
