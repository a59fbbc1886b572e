import type { EventSourceMessage } from 'eventsource-parser';
import type { Model, StopReason } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import { pricedUsage } from '../../priced-usage.ts';
import { ModelFailure, type UsageUpdate } from '../../request.ts';
import { parseEventData, type StreamDecoder, type StreamEventData } from '../stream-decoder.ts';

// An event has one of these fields, which is its type; others are ignored.
interface ConverseEvent {
  readonly contentBlockStart?: {
    readonly start?: { readonly toolUse?: { readonly toolUseId?: string; readonly name?: string } };
  };
  readonly contentBlockDelta?: { readonly delta?: ContentDelta };
  readonly contentBlockStop?: object;
  readonly messageStop?: { readonly stopReason?: string };
  readonly metadata?: { readonly usage?: TokenCounts };
}

interface ContentDelta {
  readonly text?: string;
  readonly toolUse?: { readonly input?: string };
  readonly reasoningContent?: {
    readonly text?: string;
    readonly signature?: string;
    readonly redactedContent?: string;
  };
}

interface TokenCounts {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

/** The events with their type inside their JSON, as the decoder reads them. */
export async function* typedEvents(events: AsyncIterable<EventSourceMessage>): AsyncGenerator<{ data: string }> {
  for await (const { event = '', data } of events) yield { data: `{${JSON.stringify(event)}:${data}}` };
}

/** Decodes the events of a Converse stream into a draft. */
export class ConverseStreamDecoder implements StreamDecoder {
  readonly #model: Model;
  readonly #draft: Draft;
  #isDone = false;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
  }

  /** Whether the stop reason is known. Usage follows. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *decode({ data }: StreamEventData): Generator<DraftStep | UsageUpdate, void> {
    const event = parseEventData<ConverseEvent>({ data });
    const { toolUse } = event.contentBlockStart?.start ?? {};
    if (toolUse) yield* this.#draft.toolCall({ id: toolUse.toolUseId ?? '', name: toolUse.name ?? '' });
    if (event.contentBlockDelta?.delta) yield* this.#add(event.contentBlockDelta.delta);
    if (event.contentBlockStop) yield* this.#draft.close();
    if (event.messageStop) this.#stop(event.messageStop.stopReason ?? '');
    if (event.metadata?.usage) yield* this.#updateUsage(event.metadata.usage);
  }

  *#add(delta: ContentDelta): Generator<DraftStep, void> {
    const { text, toolUse, reasoningContent: { text: thinking, signature, redactedContent } = {} } = delta;
    if (text) yield* this.#draft.text(text);
    if (toolUse?.input) yield* this.#draft.toolArguments(toolUse.input);
    if (thinking) yield* this.#draft.thinking(thinking);
    if (signature) this.#draft.sign(signature);
    if (redactedContent) yield* this.#draft.redactedThinking(redactedContent);
  }

  #stop(reason: string): void {
    this.#draft.setMetadata({ rawStopReason: reason });
    this.#draft.stopReason = stopReasonOf(reason);
    this.#isDone = true;
  }

  *#updateUsage(usage: TokenCounts): Generator<UsageUpdate, void> {
    const priced = pricedUsage(this.#model, {
      input: usage.inputTokens ?? 0,
      output: usage.outputTokens ?? 0,
      cacheRead: usage.cacheReadInputTokens ?? 0,
      cacheWrite: usage.cacheWriteInputTokens ?? 0,
    });
    this.#draft.usage = priced;
    yield { type: 'usage', usage: priced };
  }
}

/** Maps the reason for the end. Throws if it is a failure. */
function stopReasonOf(reason: string): StopReason {
  switch (reason) {
    case 'max_tokens':
      return 'length';
    case 'tool_use':
      return 'toolUse';
    case 'guardrail_intervened':
    case 'content_filtered':
      throw new ModelFailure('model_error', `The provider withheld the response (${reason})`);
    case 'model_context_window_exceeded':
      throw new ModelFailure('context_overflow', 'The response no longer fitted the context window of the model');
    case 'malformed_model_output':
    case 'malformed_tool_use':
      throw new ModelFailure('connection_lost', `The model stopped with an error (${reason})`);
    default:
      return 'stop';
  }
}
