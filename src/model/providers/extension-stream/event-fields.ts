import { ModelFailure } from '../../request.ts';

/** What is wrong with a stream that nobody here has written. */
export const malformedStream = (problem: string) => new ModelFailure('model_error', `The stream of the provider holds ${problem}`);

/** What somebody else's error says. */
export function errorMessageOf(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message;
  return isNonEmpty(error) ? error : 'The provider failed without a word';
}

export const isNonEmpty = (value: unknown): value is string => typeof value === 'string' && value !== '';
