import { isResult, isThought, type Turn } from './messages.ts';

/**
 * Whether the model is busy with its tools and began without a thought, as when thinking was off then or another model
 * spoke. Until it is done the API refuses to give it a budget for thinking.
 */
export function isThoughtless(turns: readonly Turn[]): boolean {
  const question = turns.findLastIndex((turn) => turn.role === 'user' && !turn.content.some(isResult));
  const answer = turns[question + 1];
  return answer?.role === 'assistant' && !answer.content.slice(0, 1).some(isThought);
}
