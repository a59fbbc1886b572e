import { closeCodes } from '../../../protocol/close-codes.ts';
import type { LiveSession } from '../state/live-session.ts';

/** What it means that there is no connection, and what helps: a session of one's own, or coming again. */
interface End {
  readonly words: string;
  readonly remedy: 'begin' | 'reload';
  /** What to do where there is no session to be seen: why that is stands in its place. */
  readonly advice?: string;
  /** Whether it may be over when the page comes again, which it does by itself. */
  readonly mayPass?: true;
}

/** Without a valid login there is no page to say it on: that is for the form that asks for one. */
const ends: ReadonlyMap<number | undefined, End> = new Map<number, End>([
  [closeCodes.badParameters, { words: 'This address makes no sense', remedy: 'begin' }],
  [closeCodes.denied, { words: 'That folder is not for this login', remedy: 'begin' }],
  [
    closeCodes.sessionNotFound,
    {
      words: 'There is no such session',
      remedy: 'begin',
      advice: 'It may have been deleted, or belong to somebody else.',
    },
  ],
  [
    closeCodes.sessionInUse,
    {
      words: 'This session is open in another program',
      remedy: 'begin',
      advice: 'Close it there and try again.',
      mayPass: true,
    },
  ],
]);

/** Whether there is nothing else to be seen. What was there before the connection ended stays, if that may pass. */
export function isAlone({ connection, isKnown }: LiveSession): boolean {
  const { advice, mayPass = false } = endOf(connection.value.code);
  return advice !== undefined && !(mayPass && isKnown.value);
}

/** By the code that the server closed it with. */
export const endOf = (code: number | undefined): End =>
  ends.get(code) ?? { words: 'The connection was closed', remedy: 'reload' };
