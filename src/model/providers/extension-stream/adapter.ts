import { Abortable } from '../../abortable.ts';
import { classifyFailure } from '../../classify-failure.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import { StallTimer } from '../../http/stall-timer.ts';
import { observedHeaders } from '../../http/wire-observation.ts';
import type { StreamContext, StreamOptions, StreamSimple } from '../../registry/provider-config.ts';
import { replayableMessages } from '../../replay.ts';
import { ModelFailure, type ModelRequest, type UsageUpdate } from '../../request.ts';
import { maxOutputTokens } from '../../token-estimate.ts';
import { errorMessageOf } from './event-fields.ts';
import { ExtensionStreamDecoder } from './stream-decoder.ts';

// Yields to the event loop after this many events: otherwise a stream without pauses would block an abort.
const EVENTS_PER_YIELD = 64;

/** Calls models through the `streamSimple` of an extension, whose output is untrusted. */
export const extensionStream =
  (stream: StreamSimple): ApiAdapter =>
  (endpoint) =>
    async function* (request, draft) {
      const stallTimer = new StallTimer(endpoint.timeouts, request.signal);
      try {
        yield* streamSteps({ stream, endpoint, request, draft, stallTimer });
      } finally {
        stallTimer.stop();
      }
    };

interface StreamCall {
  readonly stream: StreamSimple;
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly draft: Draft;
  readonly stallTimer: StallTimer;
}

async function* streamSteps(call: StreamCall): AsyncGenerator<DraftStep | UsageUpdate> {
  const { request, draft, stallTimer } = call;
  const events = new Abortable(openStream(call), stallTimer.signal);
  const decoder = new ExtensionStreamDecoder(request.model, draft);
  let count = 0;
  try {
    while (!decoder.isDone) {
      const result = await events.next();
      if (result.done) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
      if (count === 0) request.onOpen?.();
      stallTimer.onData();
      stallTimer.setCounting(false);
      yield* decoder.decode(result.value);
      if (++count % EVENTS_PER_YIELD === 0) await new Promise((resolve) => setImmediate(resolve));
      stallTimer.setCounting(true);
    }
  } catch (error) {
    request.signal.throwIfAborted();
    throw (
      stallTimer.failure ??
      (error instanceof ModelFailure ? error : classifyFailure({ message: errorMessageOf(error) }))
    );
  } finally {
    await events.close();
  }
}

async function* openStream({ stream, endpoint, request, stallTimer }: StreamCall): AsyncGenerator<unknown> {
  const { model, wire } = request;
  const headers = await stallTimer.pauseDuring(observedHeaders(endpoint.headers, wire));
  const options = optionsFor(request, { ...endpoint, headers }, stallTimer);
  const events: unknown = await stream({ ...model }, contextOf(request), options);
  if (!isStream(events)) {
    throw new ModelFailure('model_error', `streamSimple of ${model.provider} did not answer a stream of events`);
  }
  yield* events;
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

// Copies everything: the extension may change it.
function contextOf({ systemPrompt, messages, tools, model }: ModelRequest): StreamContext {
  const toolSpecs = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const replayed = replayableMessages(messages, model, (id) => id);
  const system = { role: 'system', content: systemPrompt, toolsAdded: toolSpecs, timestamp: 0 };
  return structuredJson({ systemPrompt, messages: [system, ...replayed], tools: toolSpecs });
}

const structuredJson = (context: object): StreamContext => JSON.parse(JSON.stringify(context));

function optionsFor(request: ModelRequest, { apiKey, headers }: Endpoint, stallTimer: StallTimer): StreamOptions {
  const { thinkingLevel, thinkingBudgets, sessionId, onPayload, wire: { onResponse, onStreamEvent } = {} } = request;
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...headers },
    signal: stallTimer.signal,
    ...(thinkingLevel === 'off' ? {} : { reasoning: thinkingLevel }),
    ...(thinkingBudgets ? { thinkingBudgets } : {}),
    maxTokens: maxOutputTokens(request),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(onPayload ? { onPayload: (payload) => stallTimer.pauseDuring(onPayload(payload)) } : {}),
    ...(onResponse ? { onResponse } : {}),
    ...(onStreamEvent ? { onProviderStreamEvent: onStreamEvent } : {}),
  };
}
