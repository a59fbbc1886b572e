import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, Step } from '../../draft.ts';
import { failureOf } from '../../failure.ts';
import { errorText } from '../../http/failure.ts';
import { usageOf } from '../../price.ts';
import type { UsageNews } from '../../request.ts';
import type { Reader } from '../read-to-end.ts';
import { parseEvent, type StreamEvent, type TokenReport } from './event.ts';
import { stopReasonOf } from './stop-reason.ts';

/** Writes what the events of a stream say into a draft. */
export class Listener implements Reader {
  readonly #model: Model;
  readonly #draft: Draft;
  #tokens: TokenReport = {};
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** The server said that its answer is complete. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *read(data: string): Generator<Step | UsageNews, void> {
    if (!this.#isDone) yield* this.#hear(parseEvent(data));
  }

  *#hear(event: StreamEvent): Generator<Step | UsageNews, void> {
    switch (event.type) {
      case 'message_start':
        this.#name(event);
        yield* this.#count(event.message?.usage);
        return;
      case 'content_block_start':
        yield* this.#begin(event.content_block);
        return;
      case 'content_block_delta':
        yield* this.#add(event.delta);
        return;
      case 'content_block_stop':
        yield* this.#draft.close();
        return;
      case 'message_delta':
        yield* this.#count(event.usage);
        this.#stop(event.delta);
        return;
      case 'message_stop':
        this.#isDone = true;
        return;
      case 'error':
        throw failureOf({ message: errorText(event) ?? JSON.stringify(event) });
    }
  }

  #name({ message: { id: responseId, model: responseModel } = {} }: StreamEvent): void {
    this.#draft.note({
      ...(responseId === undefined ? {} : { responseId }),
      ...(responseModel === undefined ? {} : { responseModel }),
    });
  }

  #begin(block: StreamEvent['content_block']): Step[] {
    switch (block?.type) {
      case 'text':
        return this.#text(block.text);
      case 'thinking':
        // Even one without words has a signature that must go back.
        return this.#draft.thinking(block.thinking ?? '');
      case 'redacted_thinking':
        return this.#draft.redacted(block.data ?? '');
      case 'tool_use':
        return this.#draft.toolCall({ id: block.id ?? '', name: block.name ?? '' });
      default:
        return [];
    }
  }

  #add(delta: StreamEvent['delta']): Step[] {
    switch (delta?.type) {
      case 'text_delta':
        return this.#text(delta.text);
      case 'thinking_delta':
        return delta.thinking ? this.#draft.thinking(delta.thinking) : [];
      case 'signature_delta':
        if (delta.signature) this.#draft.sign(delta.signature);
        return [];
      case 'input_json_delta':
        return delta.partial_json ? this.#draft.toolArguments(delta.partial_json) : [];
      default:
        return [];
    }
  }

  #text(text: string | undefined): Step[] {
    return text ? this.#draft.text(text) : [];
  }

  #stop(delta: StreamEvent['delta']): void {
    if (!delta?.stop_reason) return;
    this.#draft.note({ rawStopReason: delta.stop_reason });
    this.#draft.stopReason = stopReasonOf(delta.stop_reason, delta.stop_details?.explanation ?? undefined);
  }

  #count(report: TokenReport = {}): UsageNews[] {
    const told = Object.entries(report).filter(([, count]) => typeof count === 'number');
    const before = JSON.stringify(this.#tokens);
    this.#tokens = { ...this.#tokens, ...Object.fromEntries(told) };
    if (JSON.stringify(this.#tokens) === before) return [];
    const usage = usageOf(this.#model, {
      input: this.#tokens.input_tokens ?? 0,
      output: this.#tokens.output_tokens ?? 0,
      cacheRead: this.#tokens.cache_read_input_tokens ?? 0,
      cacheWrite: this.#tokens.cache_creation_input_tokens ?? 0,
    });
    this.#draft.usage = usage;
    return [{ type: 'usage', usage }];
  }
}
