import { ModelFailure, type ModelRequest } from '../request.ts';

/** The body to post: the payload hook gets a copy and may replace it. */
export async function finalBody(body: object, { onPayload, signal }: Pick<ModelRequest, 'onPayload' | 'signal'>) {
  if (!onPayload) return body;
  const copy: object = structuredClone(body);
  const changed = (await onPayload(copy)) ?? copy;
  // The request may have been aborted meanwhile.
  signal.throwIfAborted();
  if (typeof changed === 'object' && !Array.isArray(changed)) return changed;
  throw new ModelFailure('model_error', `A hook wants to post ${nounFor(changed)} where the body must be an object`);
}

const nounFor = (value: unknown) => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);
