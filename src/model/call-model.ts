import { messageOf } from '../protocol/errors.ts';
import type { AssistantMessage, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { Abortable } from './abortable.ts';
import { Draft, type DraftStep, emptyAssistantMessage } from './draft.ts';
import {
  type ModelEvent,
  ModelFailure,
  type ModelRequest,
  type Provider,
  type ResponseEnd,
  type UsageUpdate,
} from './request.ts';

/** A model response that is about to stream. */
export interface ModelResponse {
  /** Has no content yet; the end repeats its timestamp. */
  readonly opening: AssistantMessage;
  /** The thinking level of the request. */
  readonly thinkingLevel: ThinkingLevel;
  readonly events: AsyncIterable<ModelEvent>;
  /** Ends the response early, as an abort would, with this error message. */
  readonly cancel: (reason: string) => void;
}

/** Calls a model. The events never throw: `onFailure` and the message in the last event report any failure. */
export function callModel(
  provider: Provider,
  request: ModelRequest,
  onFailure: (failure: ModelFailure) => void = () => {},
): ModelResponse {
  const { model, thinkingLevel, routedFrom } = request;
  const opening = { ...emptyAssistantMessage(model), ...(routedFrom ? { thinkingLevel } : {}) };
  const controller = new AbortController();
  return {
    opening,
    thinkingLevel: request.thinkingLevel,
    events: streamEvents(provider, { request, controller, onFailure, draft: new Draft({ ...opening }) }),
    cancel: (reason) => controller.abort(reason),
  };
}

interface CallState {
  readonly request: ModelRequest;
  /** Stops this response, not the run. */
  readonly controller: AbortController;
  readonly onFailure: (failure: ModelFailure) => void;
  readonly draft: Draft;
}

async function* streamEvents(
  provider: Provider,
  { request, controller, onFailure, draft }: CallState,
): AsyncGenerator<ModelEvent> {
  const { signal } = controller;
  const onAbort = () => controller.abort(REQUEST_ABORTED);
  if (request.signal.aborted) onAbort();
  request.signal.addEventListener('abort', onAbort, { once: true });
  let steps: DraftStep[];
  let end: ResponseEnd;
  try {
    signal.throwIfAborted();
    let onOpen = () => {};
    const opened = new Promise<void>((resolve) => {
      onOpen = resolve;
    });
    const source = new Abortable(provider({ ...request, signal, onOpen }, draft), signal);
    try {
      const first = source.next();
      await Promise.race([first, opened]);
      // It may fail while the reader handles the start of the response.
      first.catch(() => {});
      yield { type: 'response' };
      for (let result = await first; !result.done; result = await source.next()) yield result.value;
    } finally {
      await source.close();
    }
    signal.throwIfAborted();
    steps = draft.close();
    end = { type: 'end', message: draft.finish() };
  } catch (error) {
    steps = draft.close();
    end = signal.aborted ? aborted(draft, signal, request.signal) : failed(draft, error);
    if (end.failure) onFailure(end.failure);
  } finally {
    request.signal.removeEventListener('abort', onAbort);
  }
  for (const step of steps) yield step;
  yield end;
}

const REQUEST_ABORTED = 'Request was aborted';

/** The reason of an abort by the end of the agent. Without a reason, a user aborted. */
export const AGENT_ENDED = new DOMException('The agent ended', 'AbortError');

const aborted = (draft: Draft, { reason }: AbortSignal, run: AbortSignal): ResponseEnd => ({
  type: 'end',
  message: draft.finish({
    stopReason: 'aborted',
    errorMessage: String(reason),
    ...(run.reason === AGENT_ENDED ? { errorCode: 'interrupted' } : {}),
  }),
});

function failed(draft: Draft, error: unknown): ResponseEnd {
  const failure = error instanceof ModelFailure ? error : new ModelFailure('internal', messageOf(error));
  const message = draft.finish({ stopReason: 'error', errorMessage: failure.message, errorCode: failure.code });
  return { type: 'end', message, failure };
}

/**
 * Makes a response without content a failure: it would look like a run that ended well. After tools a model may have
 * nothing to add.
 */
export const withContent = (provider: Provider): Provider =>
  async function* (request: ModelRequest, draft: Draft): AsyncGenerator<DraftStep | UsageUpdate> {
    yield* provider(request, draft);
    if (draft.isEmpty && request.messages.at(-1)?.role !== 'toolResult') {
      throw new ModelFailure('empty_answer', 'The model returned an empty response');
    }
  };
