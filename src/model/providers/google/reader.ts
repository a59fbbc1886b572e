import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, Step } from '../../draft.ts';
import { failureOf } from '../../failure.ts';
import { errorText } from '../../http/failure.ts';
import { usageOf } from '../../price.ts';
import type { ModelRequest, UsageNews } from '../../request.ts';
import { eventData } from '../event-data.ts';
import type { Reader } from '../read-to-end.ts';
import { CallIds } from './call-ids.ts';
import type { Candidate, Chunk, ChunkUsage, FunctionCall, Part } from './chunk.ts';

/** Writes the pieces of an answer into a draft. */
export class ChunkReader implements Reader {
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #ids: CallIds;
  #responseId: string | undefined;
  #counted = '';
  #isDone = false;

  constructor({ model, messages }: ModelRequest, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
    this.#ids = new CallIds(messages);
  }

  /** Whether the model has said why it stopped; the API has no other end. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *read(data: string): Generator<Step | UsageNews, void> {
    const chunk = eventData<Chunk>(data);
    if (chunk.error) throw broken(chunk);
    this.#note(chunk);
    const [candidate = {}] = chunk.candidates ?? [];
    for (const part of candidate.content?.parts ?? []) yield* this.#part(part);
    if (chunk.usageMetadata) yield* this.#count(chunk.usageMetadata);
    const { blockReason, blockReasonMessage } = chunk.promptFeedback ?? {};
    if (blockReason) {
      throw failureOf({ message: `${blockReasonMessage || 'The provider blocked the prompt'} (${blockReason})` });
    }
    this.#finish(candidate);
  }

  #note({ responseId, modelVersion }: Chunk): void {
    this.#responseId ??= responseId;
    this.#draft.note({
      ...(responseId === undefined ? {} : { responseId }),
      ...(modelVersion === undefined ? {} : { responseModel: modelVersion }),
    });
  }

  *#part({ text, thought, thoughtSignature, functionCall }: Part): Generator<Step, void> {
    if (functionCall) return yield* this.#call(functionCall, thoughtSignature);
    if (text) yield* thought ? this.#draft.thinking(text) : this.#draft.text(text);
    // It may come behind the words it belongs to, with no words of its own.
    if (thoughtSignature) this.#draft.sign(thoughtSignature);
  }

  *#call({ id, name = '', args = {} }: FunctionCall, seal: string | undefined): Generator<Step, void> {
    yield* this.#draft.toolCall({ id: this.#ids.next(id, this.#responseId), name });
    yield* this.#draft.toolArguments(JSON.stringify(args));
    if (seal) this.#draft.sign(seal);
    yield* this.#draft.close();
  }

  *#count(counts: ChunkUsage): Generator<UsageNews, void> {
    const told = JSON.stringify(counts);
    if (told === this.#counted) return;
    this.#counted = told;
    const { promptTokenCount = 0, cachedContentTokenCount = 0, candidatesTokenCount = 0, thoughtsTokenCount } = counts;
    const usage = usageOf(this.#model, {
      input: Math.max(0, promptTokenCount - cachedContentTokenCount),
      output: candidatesTokenCount + (thoughtsTokenCount ?? 0),
      cacheRead: cachedContentTokenCount,
      ...(thoughtsTokenCount === undefined ? {} : { reasoning: thoughtsTokenCount }),
    });
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }

  #finish({ finishReason, finishMessage }: Candidate): void {
    if (!finishReason) return;
    this.#draft.note({ rawStopReason: finishReason });
    if (finishReason === 'MAX_TOKENS') this.#draft.stopReason = 'length';
    else if (finishReason !== 'STOP') {
      throw failureOf({ message: `${finishMessage || 'The model did not finish its answer'} (${finishReason})` });
    }
    this.#isDone = true;
  }
}

function broken(chunk: Chunk) {
  const status = chunk.error?.code;
  return failureOf({
    message: errorText(chunk) ?? 'The model failed and did not say why',
    ...(typeof status === 'number' ? { status } : {}),
  });
}
