import { Abortable } from '../abortable.ts';
import type { Draft, Step } from '../draft.ts';
import type { Endpoint, Wire } from '../endpoint.ts';
import { failureOf } from '../failure.ts';
import { Silence } from '../http/silence.ts';
import { longestAnswer } from '../longest-answer.ts';
import type { StreamContext, StreamOptions, StreamSimple } from '../provider-config.ts';
import { replayable } from '../replay.ts';
import { ModelFailure, type ModelRequest, type UsageNews } from '../request.ts';
import { EventReader } from './own-stream/event-reader.ts';
import { wordsOf } from './own-stream/foreign.ts';

/** After this many events everything else has its turn: code that answers at once would leave no time for an abort. */
const EVENTS_IN_A_ROW = 64;

/** Speaks to models through the code of an extension. Nothing that it says or does is trusted. */
export const ownStream =
  (stream: StreamSimple): Wire =>
  (endpoint) =>
    async function* (request, draft) {
      const silence = new Silence(endpoint.patience, request.signal);
      try {
        yield* answer({ stream, endpoint, request, draft, silence });
      } finally {
        silence.end();
      }
    };

interface Question {
  readonly stream: StreamSimple;
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly draft: Draft;
  readonly silence: Silence;
}

async function* answer(question: Question): AsyncGenerator<Step | UsageNews> {
  const { request, draft, silence } = question;
  const events = new Abortable(eventsOf(question), silence.signal);
  const reader = new EventReader(request.model, draft);
  let count = 0;
  try {
    while (!reader.isDone) {
      const turn = await events.next();
      if (turn.done) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
      silence.broken();
      silence.listen(false);
      yield* reader.read(turn.value);
      if (++count % EVENTS_IN_A_ROW === 0) await new Promise((resolve) => setImmediate(resolve));
      silence.listen(true);
    }
  } catch (error) {
    request.signal.throwIfAborted();
    throw silence.failure ?? (error instanceof ModelFailure ? error : failureOf({ message: wordsOf(error) }));
  } finally {
    await events.leave();
  }
}

async function* eventsOf({ stream, endpoint, request, silence }: Question): AsyncGenerator<unknown> {
  const { model } = request;
  const events: unknown = await stream({ ...model }, contextOf(request), optionsFor(request, endpoint, silence));
  if (!isStream(events)) {
    throw new ModelFailure('model_error', `streamSimple of ${model.provider} did not answer a stream of events`);
  }
  yield* events;
}

const isStream = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === 'object' && value !== null && Symbol.asyncIterator in value;

/** A copy: what others do with it is nothing to the session. */
function contextOf({ systemPrompt, messages, tools, model }: ModelRequest): StreamContext {
  const told = tools.map(({ name, description, parameters }) => ({ name, description, parameters }));
  const said = replayable(messages, model, (id) => id);
  return { systemPrompt, ...JSON.parse(JSON.stringify({ messages: said, tools: told })) };
}

function optionsFor(request: ModelRequest, { apiKey, headers }: Endpoint, silence: Silence): StreamOptions {
  const { thinkingLevel, thinkingBudgets, sessionId, onPayload } = request;
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...headers },
    signal: silence.signal,
    ...(thinkingLevel === 'off' ? {} : { reasoning: thinkingLevel }),
    ...(thinkingBudgets ? { thinkingBudgets } : {}),
    maxTokens: longestAnswer(request),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(onPayload ? { onPayload: (payload) => silence.without(onPayload(payload)) } : {}),
  };
}
