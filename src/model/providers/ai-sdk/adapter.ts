import { Abortable } from '../../abortable.ts';
import type { Draft, DraftStep } from '../../draft.ts';
import type { ApiAdapter, Endpoint } from '../../endpoint.ts';
import { StallTimer } from '../../http/stall-timer.ts';
import { ModelFailure, type ModelRequest, type UsageUpdate } from '../../request.ts';
import { callOptions } from './call-options.ts';
import { packageFetch } from './fetch.ts';
import { languageModel, type SdkCallOptions, type SdkModel, type SdkStreamPart } from './language-model.ts';
import { loadPackage, type PackageFolders } from './load-package.ts';
import { sdkFailure } from './sdk-error.ts';
import { AiSdkStreamDecoder } from './stream-decoder.ts';

/** Calls models through a package of the AI SDK that the user has installed. */
export function aiSdk(packageName: string, folders: PackageFolders): ApiAdapter {
  return (endpoint) =>
    async function* (request, draft) {
      const stallTimer = new StallTimer(endpoint.timeouts, request.signal);
      try {
        const model = await openModel({ packageName, folders, endpoint, request, stallTimer });
        yield* streamSteps(model, { packageName, request, draft, stallTimer });
      } finally {
        stallTimer.stop();
      }
    };
}

interface OpenModelOptions {
  readonly packageName: string;
  readonly folders: PackageFolders;
  readonly endpoint: Endpoint;
  readonly request: ModelRequest;
  readonly stallTimer: StallTimer;
}

async function openModel({ packageName, folders, endpoint, request, stallTimer }: OpenModelOptions): Promise<SdkModel> {
  const { model, onPayload, signal } = request;
  const exported = await stallTimer.pauseDuring(loadPackage(packageName, folders));
  const fetch = packageFetch({
    signal,
    connectMs: endpoint.timeouts.connectMs,
    ...(onPayload ? { onPayload: (payload) => stallTimer.pauseDuring(onPayload(payload)) } : {}),
  });
  try {
    return await languageModel({ packageName, exported, endpoint, model, fetch });
  } catch (error) {
    throw sdkFailure(error);
  }
}

interface StreamState {
  readonly packageName: string;
  readonly stallTimer: StallTimer;
  readonly request: ModelRequest;
  readonly draft: Draft;
}

async function* streamSteps(
  model: SdkModel,
  { packageName, request, draft, stallTimer }: StreamState,
): AsyncGenerator<DraftStep | UsageUpdate> {
  const abortSignal = stallTimer.signal;
  const options = callOptions(request, { packageName, version: model.specificationVersion, abortSignal });
  const parts = new Abortable(partsOf(model, options), abortSignal);
  const decoder = new AiSdkStreamDecoder(request.model, draft);
  try {
    for (let result = await parts.next(); !result.done; result = await parts.next()) {
      // The package emits this before the server sends anything.
      if (result.value.type === 'stream-start') continue;
      stallTimer.onData();
      stallTimer.setCounting(false);
      yield* decoder.decode(result.value);
      stallTimer.setCounting(true);
    }
    if (!decoder.isDone) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
  } catch (error) {
    request.signal.throwIfAborted();
    // Failures after a complete response do not matter.
    if (!decoder.isDone) throw stallTimer.failure ?? sdkFailure(error);
  } finally {
    await parts.close();
  }
}

async function* partsOf(model: SdkModel, options: SdkCallOptions): AsyncGenerator<SdkStreamPart> {
  const { stream } = await model.doStream(options);
  for await (const part of stream) yield part;
}
