import { closeCodes } from '../../../protocol/errors.ts';
import type { LiveSession } from '../state/live-session.ts';

// The text for a closed connection, and the offered remedy.
interface CloseDescription {
  readonly text: string;
  readonly remedy: 'begin' | 'reload';
  // The advice for a session that cannot be shown.
  readonly advice?: string;
  // Whether a later reconnect, which happens by itself, may succeed.
  readonly isTemporary?: true;
}

// A rejected login has no entry: the login form handles it.
const closeDescriptions: ReadonlyMap<number | undefined, CloseDescription> = new Map<number, CloseDescription>([
  [closeCodes.badParameters, { text: 'This address makes no sense', remedy: 'begin' }],
  [closeCodes.denied, { text: 'That folder is not for this login', remedy: 'begin' }],
  [
    closeCodes.sessionNotFound,
    {
      text: 'There is no such session',
      remedy: 'begin',
      advice: 'It may have been deleted, or belong to another user.',
    },
  ],
  [
    closeCodes.sessionInUse,
    {
      // The reason beside it names the program or the node that has it.
      text: 'This session cannot be opened now',
      remedy: 'begin',
      advice: 'The page tries again by itself.',
      isTemporary: true,
    },
  ],
]);

/** Whether the session cannot be shown. With a temporary reason, a loaded session stays on the screen. */
export function isUnavailable({ connection, isLoaded: isKnown }: LiveSession): boolean {
  const { advice, isTemporary = false } = describeClose(connection.value.code);
  return advice !== undefined && !(isTemporary && isKnown.value);
}

/** Returns the description of a close code. */
export const describeClose = (code: number | undefined): CloseDescription =>
  closeDescriptions.get(code) ?? { text: 'The connection was closed', remedy: 'reload' };
