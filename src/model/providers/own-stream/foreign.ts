import { ModelFailure } from '../../request.ts';

/** What is wrong with a stream that nobody here has written. */
export const nonsense = (what: string) => new ModelFailure('model_error', `The stream of the provider holds ${what}`);

/** What somebody else's error says. */
export function wordsOf(error: unknown): string {
  if (error instanceof Error && error.message !== '') return error.message;
  return isFilled(error) ? error : 'The provider failed without a word';
}

export const isFilled = (value: unknown): value is string => typeof value === 'string' && value !== '';
