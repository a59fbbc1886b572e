import { ModelFailure } from '../request.ts';

/** How much of what makes no sense is shown. */
const SHOWN = 200;

/** The object that an event of a stream carries. What its fields hold is the provider's word. */
export function eventData<Data extends object>(text: string): Data {
  const value = parsed(text);
  if (typeof value === 'object' && value !== null) return value as Data;
  const shown = text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
  throw new ModelFailure('model_error', `Expected a JSON object in the stream, got: ${shown}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
