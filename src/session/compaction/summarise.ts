import { setTimeout as wait } from 'node:timers/promises';
import { unlessAborted } from '../../agent/unless-aborted.ts';
import type { ModelRegistry } from '../../model/registry.ts';
import type { AnswerEnd, ModelRequest } from '../../model/request.ts';
import { ask } from '../../model/stream.ts';
import type { Model, Usage } from '../../protocol/generated/vocabulary.ts';
import type { Settings } from '../../store/settings.ts';
import type { Automatic } from '../recovery.ts';
import { Retries } from '../retry.ts';
import type { Transcript } from '../transcript.ts';
import { type Assignment, promptFor, SUMMARISER } from './instructions.ts';

/** Less than this says nothing. */
const LEAST_TOKENS = 256;

/** Where the writer of a summary is found. */
interface Office {
  readonly transcript: Transcript;
  readonly registry: ModelRegistry;
  readonly settings: () => Settings;
  readonly automatic: Automatic;
}

/** Who writes summaries, and how long they may be. */
export interface Summariser {
  readonly registry: ModelRegistry;
  readonly model: Model;
  readonly maxTokens: number;
  readonly sessionId: string;
  readonly retry: Settings['retry'];
  readonly signal: AbortSignal;
}

export interface Written {
  readonly text: string;
  readonly usage: Usage;
}

/** The model as a writer of summaries that are no longer than this. */
export const summariserOf = (
  { automatic, registry, settings, transcript }: Office,
  by: Pick<Summariser, 'model' | 'maxTokens' | 'signal'>,
): Summariser => ({
  ...by,
  registry,
  sessionId: transcript.log.header.id,
  retry: { ...settings().retry, enabled: automatic.retry },
});

/** Has a model write a summary. Rejects when it cannot, or when the signal aborts. */
export async function summarise(assignment: Assignment, by: Summariser): Promise<Written> {
  const { registry, model, maxTokens, sessionId, signal } = by;
  const request: ModelRequest = {
    model,
    thinkingLevel: 'off',
    systemPrompt: SUMMARISER,
    messages: [{ role: 'user', content: [{ type: 'text', text: promptFor(assignment) }], timestamp: 0 }],
    tools: [],
    sessionId,
    maxTokens: Math.max(LEAST_TOKENS, Math.min(maxTokens, model.maxTokens)),
    signal,
  };
  const retries = new Retries(by.retry);
  while (true) {
    const { message, failure } = await answerTo(request, registry);
    signal.throwIfAborted();
    if (!failure) return { text: textIn(message), usage: message.usage };
    const retry = by.retry?.enabled === false ? undefined : retries.next(failure);
    if (!retry) throw new Error(failure.message);
    await wait(retry.delayMs, undefined, { signal });
  }
}

/** Has a model sum up texts that follow each other, each with what it made of those before. */
export async function summariseAll(
  records: readonly string[],
  { previousSummary, ...assignment }: Omit<Assignment, 'record'>,
  by: Summariser,
): Promise<readonly Written[]> {
  const written: Written[] = [];
  for (const record of records) {
    written.push(
      await summarise({ ...assignment, record, previousSummary: written.at(-1)?.text ?? previousSummary }, by),
    );
  }
  return written;
}

/** What all of them have used. */
export function usageOf(written: readonly Written[]): Usage {
  const usages = written.map(({ usage }) => usage);
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

async function answerTo(request: ModelRequest, registry: ModelRegistry): Promise<AnswerEnd> {
  const provider = await unlessAborted(registry.provider(request.model, request.signal), request.signal);
  if (!provider) throw request.signal.reason;
  for await (const event of ask(provider, request).events) if (event.type === 'end') return event;
  throw new Error('The model stream ended without an end');
}

function textIn({ content, stopReason }: AnswerEnd['message']): string {
  const text = content
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n')
    .trim();
  if (text === '') throw new Error('The model wrote nothing');
  // What it says is better than nothing, and whoever reads it must know.
  return stopReason === 'length' ? `${text}\n\n[This summary was cut off here.]` : text;
}
