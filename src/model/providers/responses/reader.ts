import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, Step } from '../../draft.ts';
import { failureOf } from '../../failure.ts';
import { errorText } from '../../http/failure.ts';
import { usageOf } from '../../price.ts';
import type { ModelFailure, UsageNews } from '../../request.ts';
import { eventData } from '../event-data.ts';
import type { Reader } from '../read-to-end.ts';
import type { OutputItem, ResponseError, ResponseEvent, ResponseState } from './events.ts';
import { Lineup } from './lineup.ts';
import { messageSeal, thoughtSeal } from './seals.ts';

const PARAGRAPH = '\n\n';

/** Writes what the events tell into a draft. */
export class ResponseReader implements Reader {
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #lineup = new Lineup();
  /** How much of the present item is in the draft. */
  #written = 0;
  #hasCall = false;
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the server has said that this was all. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *read(data: string): Generator<Step | UsageNews, void> {
    // Some servers say more, as their other API makes them.
    if (this.#isDone) return;
    for (const event of this.#lineup.next(eventData<ResponseEvent>(data))) yield* this.#take(event);
  }

  *#take(event: ResponseEvent): Generator<Step | UsageNews, void> {
    switch (event.type) {
      case 'response.created':
        return this.#note(event.response);
      case 'response.output_item.added':
        return yield* this.#begin(event.item);
      case 'response.reasoning_summary_part.added':
        if (this.#written > 0) yield* this.#think(PARAGRAPH);
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return yield* this.#think(event.delta);
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return yield* this.#say(event.delta);
      case 'response.function_call_arguments.delta':
        return yield* this.#argue(event.delta);
      case 'response.function_call_arguments.done':
        return yield* this.#argue(this.#unwritten(event.arguments));
      case 'response.output_item.done':
        return yield* this.#end(event.item ?? {});
      case 'response.completed':
        return yield* this.#finish({ status: 'completed', ...event.response });
      case 'response.incomplete':
        return yield* this.#finish({ status: 'incomplete', ...event.response });
      case 'response.failed':
        yield* this.#count(event.response ?? {});
        throw failure(event.response?.error ?? {});
      case 'error':
        throw failure(event.error ?? { message: event.message, code: event.code });
    }
  }

  #note({ id, model }: ResponseState = {}): void {
    this.#draft.note({
      ...(id === undefined ? {} : { responseId: id }),
      ...(model === undefined ? {} : { responseModel: model }),
    });
  }

  #begin(item: OutputItem = {}): Step[] {
    this.#written = 0;
    this.#hasCall = item.type === 'function_call';
    if (!this.#hasCall) return [];
    const { call_id = '', id, name = '' } = item;
    return this.#draft.toolCall({ id: id === undefined ? call_id : `${call_id}|${id}`, name });
  }

  #think(delta = ''): Step[] {
    this.#written += delta.length;
    return delta === '' ? [] : this.#draft.thinking(delta);
  }

  #say(delta = ''): Step[] {
    this.#written += delta.length;
    return delta === '' ? [] : this.#draft.text(delta);
  }

  #argue(delta = ''): Step[] {
    this.#written += delta.length;
    return delta === '' ? [] : this.#draft.toolArguments(delta);
  }

  /** Some servers say things only when they are whole. */
  #unwritten(whole = ''): string {
    return whole.slice(this.#written);
  }

  *#end(item: OutputItem): Generator<Step, void> {
    switch (item.type) {
      case 'reasoning':
        yield* this.#endThought(item);
        break;
      case 'message':
        yield* this.#say(this.#unwritten(joined(item.content, '')));
        if (this.#written > 0) this.#sign(messageSeal(item));
        break;
      case 'function_call':
        if (!this.#hasCall) yield* this.#begin(item);
        yield* this.#argue(this.#unwritten(item.arguments));
        break;
    }
    yield* this.#draft.close();
    this.#written = 0;
    this.#hasCall = false;
  }

  *#endThought(item: OutputItem): Generator<Step, void> {
    if (this.#written === 0) yield* this.#think(joined(item.summary, PARAGRAPH) || joined(item.content, PARAGRAPH));
    const seal = thoughtSeal(item);
    if (this.#written > 0) this.#sign(seal);
    else if (seal !== undefined) yield* this.#draft.redacted(seal);
  }

  #sign(seal: string | undefined): void {
    if (seal !== undefined) this.#draft.sign(seal);
  }

  *#count({ usage }: ResponseState): Generator<UsageNews, void> {
    if (!usage) return;
    const cacheRead = usage.input_tokens_details?.cached_tokens ?? 0;
    const reasoning = usage.output_tokens_details?.reasoning_tokens;
    const counted = usageOf(this.#model, {
      input: Math.max(0, (usage.input_tokens ?? 0) - cacheRead),
      output: usage.output_tokens ?? 0,
      cacheRead,
      ...(reasoning === undefined ? {} : { reasoning }),
    });
    this.#draft.usage = counted;
    yield { type: 'usage', usage: counted };
  }

  *#finish(response: ResponseState & { status: string }): Generator<UsageNews, void> {
    const { status, incomplete_details: details } = response;
    this.#note(response);
    this.#draft.note({ rawStopReason: details?.reason ?? status });
    yield* this.#count(response);
    if (status === 'incomplete') {
      const { reason = 'max_output_tokens' } = details ?? {};
      if (reason !== 'max_output_tokens') throw failureOf({ message: `The answer was cut short: ${reason}` });
      this.#draft.stopReason = 'length';
    }
    this.#isDone = true;
  }
}

const joined = (parts: readonly { text?: string; refusal?: string }[] | null | undefined, between: string): string =>
  (parts ?? []).map(({ text, refusal }) => text ?? refusal ?? '').join(between);

function failure({ message, code, type }: ResponseError): ModelFailure {
  return failureOf({ message: errorText({ message, code: code ?? type }) ?? 'The model failed and did not say why' });
}
