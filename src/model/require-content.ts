import type { Draft, DraftStep } from './draft.ts';
import { ModelFailure, type ModelRequest, type Provider, type UsageUpdate } from './request.ts';

/**
 * Makes a response without content a failure: it would look like a run that ended well. After tools a model may have
 * nothing to add.
 */
export const withContent = (provider: Provider): Provider =>
  async function* (request: ModelRequest, draft: Draft): AsyncGenerator<DraftStep | UsageUpdate> {
    yield* provider(request, draft);
    if (draft.isEmpty && request.messages.at(-1)?.role !== 'toolResult') {
      throw new ModelFailure('empty_response', 'The model returned an empty response');
    }
  };
