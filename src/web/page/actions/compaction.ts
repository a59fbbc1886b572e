import type { Result } from '../../../protocol/generated/vocabulary.ts';
import type { LiveSession } from '../state/live-session.ts';

/** Replaces the older part of the conversation by a summary that follows the optional `instructions`. */
export const compact = ({ remote }: LiveSession, instructions = ''): Promise<Result<'compact'>> =>
  remote.compact(instructions.trim() === '' ? {} : { customInstructions: instructions.trim() });

/** Turns automatic compaction of nearly full contexts on or off. */
export const setAutoCompaction = (session: LiveSession, choice: { readonly enabled: boolean }): Promise<boolean> =>
  session.attempt(() => session.remote.setAutoCompaction(choice));
