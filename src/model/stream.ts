import type { AssistantMessage } from '../protocol/generated/vocabulary.ts';
import { Abortable } from './abortable.ts';
import { Draft, emptyAnswer, type Step } from './draft.ts';
import { type AnswerEnd, type ModelEvent, ModelFailure, type ModelRequest, type Provider } from './request.ts';

/** An answer that is about to stream: what it will be called, and its events. */
export interface Answer {
  /** Without content yet; the end repeats its timestamp. */
  readonly opening: AssistantMessage;
  readonly events: AsyncIterable<ModelEvent>;
}

/**
 * Asks a model. The events never throw: whatever goes wrong is told by the message in the last one, which always comes.
 */
export function ask(provider: Provider, request: ModelRequest): Answer {
  const opening = emptyAnswer(request.model);
  return { opening, events: answer(provider, request, new Draft({ ...opening })) };
}

async function* answer(provider: Provider, request: ModelRequest, draft: Draft): AsyncGenerator<ModelEvent> {
  let steps: Step[];
  let end: AnswerEnd;
  try {
    request.signal.throwIfAborted();
    const source = new Abortable(provider(request, draft), request.signal);
    try {
      for (let turn = await source.next(); !turn.done; turn = await source.next()) yield turn.value;
    } finally {
      await source.leave();
    }
    request.signal.throwIfAborted();
    steps = draft.close();
    end = { type: 'end', message: draft.finish() };
  } catch (error) {
    steps = draft.close();
    end = request.signal.aborted ? aborted(draft) : failed(draft, error);
  }
  for (const step of steps) yield step;
  yield end;
}

const aborted = (draft: Draft): AnswerEnd => ({
  type: 'end',
  message: draft.finish({ stopReason: 'aborted', errorMessage: 'Request was aborted' }),
});

function failed(draft: Draft, error: unknown): AnswerEnd {
  const failure = error instanceof ModelFailure ? error : new ModelFailure('internal', messageOf(error));
  const message = draft.finish({ stopReason: 'error', errorMessage: failure.message, errorCode: failure.code });
  return { type: 'end', message, failure };
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));
