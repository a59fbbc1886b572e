import { Abortable } from '../abortable.ts';
import type { Draft, Step } from '../draft.ts';
import type { Endpoint, Wire } from '../endpoint.ts';
import { Silence } from '../http/silence.ts';
import { ModelFailure, type ModelRequest, type UsageNews } from '../request.ts';
import { callOf } from './ai-sdk/call.ts';
import { failureFrom } from './ai-sdk/failure.ts';
import { fetchPayload } from './ai-sdk/fetch-payload.ts';
import { type Call, languageModel, type Part, type SdkModel } from './ai-sdk/language-model.ts';
import { loadPackage, type Places } from './ai-sdk/load-package.ts';
import { PartReader } from './ai-sdk/part-reader.ts';

/** Speaks to models through a package of the AI SDK, which the user has installed. */
export function aiSdk(packageName: string, places: Places): Wire {
  return (endpoint) =>
    async function* (request, draft) {
      const silence = new Silence(endpoint.patience, request.signal);
      try {
        const model = await reach({ packageName, places, endpoint, request, silence });
        yield* answer(model, { request, draft, silence });
      } finally {
        silence.end();
      }
    };
}

interface Way {
  readonly packageName: string;
  readonly places: Places;
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly silence: Silence;
}

async function reach({ packageName, places, endpoint, request, silence }: Way): Promise<SdkModel> {
  const { model, onPayload, signal } = request;
  const exported = await silence.without(loadPackage(packageName, places));
  const fetch = fetchPayload({
    signal,
    ...(onPayload ? { onPayload: (payload) => silence.without(onPayload(payload)) } : {}),
  });
  try {
    return await languageModel({ packageName, exported, endpoint, model, fetch });
  } catch (error) {
    throw failureFrom(error);
  }
}

interface Question {
  readonly silence: Silence;
  readonly request: ModelRequest;
  readonly draft: Draft;
}

async function* answer(model: SdkModel, { request, draft, silence }: Question): AsyncGenerator<Step | UsageNews> {
  const parts = new Abortable(partsOf(model, callOf(request, silence.signal)), silence.signal);
  const reader = new PartReader(request.model, draft);
  try {
    for (let turn = await parts.next(); !turn.done; turn = await parts.next()) {
      // The package says this by itself, before the server has said a word.
      if (turn.value.type === 'stream-start') continue;
      silence.broken();
      silence.listen(false);
      yield* reader.read(turn.value);
      silence.listen(true);
    }
    if (!reader.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
  } catch (error) {
    request.signal.throwIfAborted();
    // What goes wrong once the answer is whole does not matter any more.
    if (!reader.isDone) throw silence.failure ?? failureFrom(error);
  } finally {
    await parts.leave();
  }
}

async function* partsOf(model: SdkModel, call: Call): AsyncGenerator<Part> {
  const { stream } = await model.doStream(call);
  for await (const part of stream) yield part;
}
