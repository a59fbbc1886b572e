import { messageOf } from '../protocol/errors.ts';
import type { AssistantMessage } from '../protocol/generated/vocabulary.ts';
import { Abortable } from './abortable.ts';
import { Draft, emptyAnswer, type Step } from './draft.ts';
import { type AnswerEnd, type ModelEvent, ModelFailure, type ModelRequest, type Provider } from './request.ts';

/** An answer that is about to stream: what it will be called, and its events. */
export interface Answer {
  /** Without content yet; the end repeats its timestamp. */
  readonly opening: AssistantMessage;
  readonly events: AsyncIterable<ModelEvent>;
  /** Ends the answer where it is, as an abort would, with this as its error message. */
  readonly breakOff: (reason: string) => void;
}

/**
 * Asks a model. The events never throw: whatever goes wrong is told by the message in the last one, which always comes,
 * and by `onFailure` before that.
 */
export function ask(
  provider: Provider,
  request: ModelRequest,
  onFailure: (failure: ModelFailure) => void = () => {},
): Answer {
  const opening = emptyAnswer(request.model);
  const own = new AbortController();
  return {
    opening,
    events: answer(provider, { request, own, onFailure, draft: new Draft({ ...opening }) }),
    breakOff: (reason) => own.abort(reason),
  };
}

interface Question {
  readonly request: ModelRequest;
  /** Stops this answer and nothing else of the run. */
  readonly own: AbortController;
  readonly onFailure: (failure: ModelFailure) => void;
  readonly draft: Draft;
}

async function* answer(provider: Provider, { request, own, onFailure, draft }: Question): AsyncGenerator<ModelEvent> {
  const { signal } = own;
  const follow = () => own.abort(REQUEST_ABORTED);
  if (request.signal.aborted) follow();
  request.signal.addEventListener('abort', follow, { once: true });
  let steps: Step[];
  let end: AnswerEnd;
  try {
    signal.throwIfAborted();
    const source = new Abortable(provider({ ...request, signal }, draft), signal);
    try {
      for (let turn = await source.next(); !turn.done; turn = await source.next()) yield turn.value;
    } finally {
      await source.leave();
    }
    signal.throwIfAborted();
    steps = draft.close();
    end = { type: 'end', message: draft.finish() };
  } catch (error) {
    steps = draft.close();
    end = signal.aborted ? aborted(draft, String(signal.reason)) : failed(draft, error);
    if (end.failure) onFailure(end.failure);
  } finally {
    request.signal.removeEventListener('abort', follow);
  }
  for (const step of steps) yield step;
  yield end;
}

const REQUEST_ABORTED = 'Request was aborted';

const aborted = (draft: Draft, errorMessage: string): AnswerEnd => ({
  type: 'end',
  message: draft.finish({ stopReason: 'aborted', errorMessage }),
});

function failed(draft: Draft, error: unknown): AnswerEnd {
  const failure = error instanceof ModelFailure ? error : new ModelFailure('internal', messageOf(error));
  const message = draft.finish({ stopReason: 'error', errorMessage: failure.message, errorCode: failure.code });
  return { type: 'end', message, failure };
}
