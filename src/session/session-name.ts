import { Refusal } from '../protocol/errors.ts';

/** Normalizes a session name to one line; rejects an empty one. */
export function sessionNameFrom(text: string): string {
  const name = text.replaceAll(/[\r\n]+/g, ' ').trim();
  if (name === '') throw new Refusal('invalid_params', 'Session name cannot be empty');
  return name;
}
