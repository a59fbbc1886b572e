import type { Result } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Replaces the older part of the conversation by a summary. `instructions`: what it should heed; may be empty. */
export const compact = ({ remote }: LiveSession, instructions = ''): Promise<Result<'compact'>> =>
  remote.compact(instructions.trim() === '' ? {} : { customInstructions: instructions.trim() });

/** Lets conversations that are nearly full be compacted by themselves, or not. */
export const setAutoCompaction = (session: LiveSession, choice: { readonly enabled: boolean }): Promise<boolean> =>
  session.attempt(() => session.remote.setAutoCompaction(choice));
