import { ModelFailure, type ModelRequest } from '../request.ts';

/** The body that is posted in the end: whoever wants to change it is given a copy. */
export async function finalBody(body: object, { onPayload, signal }: Pick<ModelRequest, 'onPayload' | 'signal'>) {
  if (!onPayload) return body;
  const copy: object = structuredClone(body);
  const changed = (await onPayload(copy)) ?? copy;
  // Nobody may be waiting any more.
  signal.throwIfAborted();
  if (typeof changed === 'object' && !Array.isArray(changed)) return changed;
  throw new ModelFailure('model_error', `A hook wants to post ${nounFor(changed)} where the body must be an object`);
}

const nounFor = (value: unknown) => (Array.isArray(value) ? 'a list' : `a ${typeof value}`);
