import { messageOf } from '../protocol/errors.ts';
import type { AssistantMessage } from '../protocol/generated/vocabulary.ts';
import { Abortable } from './abortable.ts';
import { Draft, emptyAssistantMessage, type MessageStep } from './draft.ts';
import { type ResponseEnd, type ModelEvent, ModelFailure, type ModelRequest, type Provider } from './request.ts';

/** An answer that is about to stream: what it will be called, and its events. */
export interface ModelResponse {
  /** Without content yet; the end repeats its timestamp. */
  readonly opening: AssistantMessage;
  readonly events: AsyncIterable<ModelEvent>;
  /** Ends the answer where it is, as an abort would, with this as its error message. */
  readonly cancel: (reason: string) => void;
}

/**
 * Asks a model. The events never throw: whatever goes wrong is told by the message in the last one, which always comes,
 * and by `onFailure` before that.
 */
export function ask(
  provider: Provider,
  request: ModelRequest,
  onFailure: (failure: ModelFailure) => void = () => {},
): ModelResponse {
  const opening = emptyAssistantMessage(request.model);
  const own = new AbortController();
  return {
    opening,
    events: streamEvents(provider, { request, controller: own, onFailure, draft: new Draft({ ...opening }) }),
    cancel: (reason) => own.abort(reason),
  };
}

interface CallState {
  readonly request: ModelRequest;
  /** Stops this answer and nothing else of the run. */
  readonly controller: AbortController;
  readonly onFailure: (failure: ModelFailure) => void;
  readonly draft: Draft;
}

async function* streamEvents(provider: Provider, { request, controller, onFailure, draft }: CallState): AsyncGenerator<ModelEvent> {
  const { signal } = controller;
  const onAbort = () => controller.abort(REQUEST_ABORTED);
  if (request.signal.aborted) onAbort();
  request.signal.addEventListener('abort', onAbort, { once: true });
  let steps: MessageStep[];
  let end: ResponseEnd;
  try {
    signal.throwIfAborted();
    const source = new Abortable(provider({ ...request, signal }, draft), signal);
    try {
      for (let result = await source.next(); !result.done; result = await source.next()) yield result.value;
    } finally {
      await source.close();
    }
    signal.throwIfAborted();
    steps = draft.close();
    end = { type: 'end', message: draft.finish() };
  } catch (error) {
    steps = draft.close();
    end = signal.aborted ? aborted(draft, String(signal.reason)) : failed(draft, error);
    if (end.failure) onFailure(end.failure);
  } finally {
    request.signal.removeEventListener('abort', onAbort);
  }
  for (const step of steps) yield step;
  yield end;
}

const REQUEST_ABORTED = 'Request was aborted';

const aborted = (draft: Draft, errorMessage: string): ResponseEnd => ({
  type: 'end',
  message: draft.finish({ stopReason: 'aborted', errorMessage }),
});

function failed(draft: Draft, error: unknown): ResponseEnd {
  const failure = error instanceof ModelFailure ? error : new ModelFailure('internal', messageOf(error));
  const message = draft.finish({ stopReason: 'error', errorMessage: failure.message, errorCode: failure.code });
  return { type: 'end', message, failure };
}
