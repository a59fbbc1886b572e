import { setTimeout as wait } from 'node:timers/promises';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import { callModel } from '../../model/call-model.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import { ModelFailure, type ModelRequest, type ResponseEnd } from '../../model/request.ts';
import type {
  AgentMessage,
  Model,
  SummarizationRetryAttemptStartEvent,
  Usage,
} from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { AutoFeatures } from '../run/recovery.ts';
import { Retries } from '../run/retry.ts';
import type { EventSink } from '../run/run.ts';
import type { Transcript } from '../transcript.ts';
import { promptFor, SUMMARISER_PROMPT, type SummaryRequest } from './instructions.ts';
import { recordsOf } from './record.ts';

// A smaller limit yields no usable summary.
const MIN_SUMMARY_TOKENS = 256;

// Dependencies that every summary shares.
interface SummariserParts {
  readonly transcript: Transcript;
  readonly registry: ModelRegistry;
  readonly settings: () => Settings;
  readonly automatic: AutoFeatures;
  readonly events: Pick<EventSink, 'publish'>;
}

/** The operation that needs a summary. */
export type SummarySource = Omit<SummarizationRetryAttemptStartEvent, 'type'>;

/** A model and the limits for the summaries that it writes. */
export interface Summariser {
  readonly registry: ModelRegistry;
  readonly model: Model;
  readonly maxTokens: number;
  readonly sessionId: string;
  readonly retry: Settings['retry'];
  readonly source: SummarySource;
  readonly publish: EventSink['publish'];
  readonly signal: AbortSignal;
}

export interface SummaryResult {
  readonly text: string;
  readonly usage: Usage;
}

/** Builds a summariser from the session's dependencies. */
export const summariserOf = (
  { automatic, registry, settings, transcript, events }: SummariserParts,
  options: Pick<Summariser, 'model' | 'maxTokens' | 'source' | 'signal'>,
): Summariser => ({
  ...options,
  registry,
  sessionId: transcript.log.header.id,
  retry: { ...settings().retry, enabled: automatic.retry },
  publish: (event) => events.publish(event),
});

/** Requests a summary from the model. Rejects when it fails or the signal aborts. */
export async function summarise(summaryRequest: SummaryRequest, summariser: Summariser): Promise<SummaryResult> {
  const { registry, model, maxTokens, sessionId, source, publish, signal } = summariser;
  const request: ModelRequest = {
    model,
    thinkingLevel: 'off',
    systemPrompt: SUMMARISER_PROMPT,
    messages: [{ role: 'user', content: [{ type: 'text', text: promptFor(summaryRequest) }], timestamp: 0 }],
    tools: [],
    sessionId,
    maxTokens: Math.max(MIN_SUMMARY_TOKENS, Math.min(maxTokens, model.maxTokens)),
    signal,
  };
  const retries = new Retries(summariser.retry);
  try {
    while (true) {
      const { message, failure } = await requestSummary(request, registry);
      signal.throwIfAborted();
      if (!failure) return { text: summaryTextOf(message), usage: message.usage };
      const retry = summariser.retry?.enabled === false ? undefined : retries.next(failure);
      if (!retry) throw failure;
      publish({ type: 'summarization_retry_scheduled', ...retry });
      await wait(retry.delayMs, undefined, { signal });
      publish({ type: 'summarization_retry_attempt_start', ...source });
    }
  } finally {
    if (retries.attempt > 0) publish({ type: 'summarization_retry_finished' });
  }
}

// A provider that counts far more tokens than estimated receives shorter records.
const MAX_HALVINGS = 3;

/** A conversation to summarise, in records of at most `maxBytes`. */
export interface SummarisedMessages extends Omit<SummaryRequest, 'record'> {
  readonly messages: readonly AgentMessage[];
  readonly maxBytes: number;
}

/** Summarises a conversation; records that exceed the window are halved. Without text there are no results. */
export async function summariseMessages(
  { messages, maxBytes, ...request }: SummarisedMessages,
  summariser: Summariser,
): Promise<readonly SummaryResult[]> {
  for (let halvings = 0; ; halvings++) {
    const records = recordsOf(messages, maxBytes / 2 ** halvings).filter(Boolean);
    try {
      return await summariseAll(records, request, summariser);
    } catch (error) {
      const isOverflow = error instanceof ModelFailure && error.code === 'context_overflow';
      if (!isOverflow || halvings === MAX_HALVINGS) throw error;
    }
  }
}

/** Summarises records one after another, each with the summary of those before it. */
async function summariseAll(
  records: readonly string[],
  { previousSummary, ...request }: Omit<SummaryRequest, 'record'>,
  summariser: Summariser,
): Promise<readonly SummaryResult[]> {
  const results: SummaryResult[] = [];
  for (const record of records) {
    results.push(
      await summarise({ ...request, record, previousSummary: results.at(-1)?.text ?? previousSummary }, summariser),
    );
  }
  return results;
}

/** Total usage of several summaries. */
export function totalUsage(results: readonly SummaryResult[]): Usage {
  const usages = results.map(({ usage }) => usage);
  const sum = (pick: (usage: Usage) => number) => usages.reduce((all, usage) => all + pick(usage), 0);
  return {
    input: sum((usage) => usage.input),
    output: sum((usage) => usage.output),
    cacheRead: sum((usage) => usage.cacheRead),
    cacheWrite: sum((usage) => usage.cacheWrite),
    totalTokens: sum((usage) => usage.totalTokens ?? 0),
    cost: {
      input: sum(({ cost }) => cost.input),
      output: sum(({ cost }) => cost.output),
      cacheRead: sum(({ cost }) => cost.cacheRead),
      cacheWrite: sum(({ cost }) => cost.cacheWrite),
      total: sum(({ cost }) => cost.total),
    },
  };
}

async function requestSummary(request: ModelRequest, registry: ModelRegistry): Promise<ResponseEnd> {
  const provider = await unlessAborted(registry.provider(request.model, request.signal), request.signal);
  if (!provider) throw request.signal.reason;
  const events = callModel(provider, { ...request, initiator: 'agent' }).events;
  for await (const event of events) if (event.type === 'end') return event;
  throw new Error('The model stream ended without an end');
}

function summaryTextOf({ content, stopReason }: ResponseEnd['message']): string {
  const text = content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim();
  if (text === '') throw new Error('The model wrote nothing');
  // A truncated summary is better than none, but its reader must see that it is truncated.
  return stopReason === 'length' ? `${text}\n\n[This summary was cut off here.]` : text;
}
