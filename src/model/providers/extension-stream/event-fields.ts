import { ModelFailure } from '../../request.ts';

/** The failure for a malformed stream. */
export const malformedStream = (problem: string) => new ModelFailure('model_error', `The stream of the provider holds ${problem}`);

/** The message of any thrown value. */
export function errorMessageOf(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message;
  return isNonEmpty(error) ? error : 'The provider failed without a word';
}

export const isNonEmpty = (value: unknown): value is string => typeof value === 'string' && value !== '';
