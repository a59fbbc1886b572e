import { closeCodes } from '../../../protocol/close-codes.ts';
import type { LiveSession } from '../state/live-session.ts';

/** What it means that there is no connection, and what helps: a session of one's own, or coming again. */
interface CloseDescription {
  readonly text: string;
  readonly remedy: 'begin' | 'reload';
  /** What to do where there is no session to be seen: why that is stands in its place. */
  readonly advice?: string;
  /** Whether it may be over when the page comes again, which it does by itself. */
  readonly isTemporary?: true;
}

/** Without a valid login there is no page to say it on: that is for the form that asks for one. */
const closeDescriptions: ReadonlyMap<number | undefined, CloseDescription> = new Map<number, CloseDescription>([
  [closeCodes.badParameters, { text: 'This address makes no sense', remedy: 'begin' }],
  [closeCodes.denied, { text: 'That folder is not for this login', remedy: 'begin' }],
  [
    closeCodes.sessionNotFound,
    {
      text: 'There is no such session',
      remedy: 'begin',
      advice: 'It may have been deleted, or belong to somebody else.',
    },
  ],
  [
    closeCodes.sessionInUse,
    {
      text: 'This session is open in another program',
      remedy: 'begin',
      advice: 'Close it there and try again.',
      isTemporary: true,
    },
  ],
]);

/** Whether there is nothing else to be seen. What was there before the connection ended stays, if that may pass. */
export function isUnavailable({ connection, isLoaded: isKnown }: LiveSession): boolean {
  const { advice, isTemporary: isTemporary = false } = describeClose(connection.value.code);
  return advice !== undefined && !(isTemporary && isKnown.value);
}

/** By the code that the server closed it with. */
export const describeClose = (code: number | undefined): CloseDescription =>
  closeDescriptions.get(code) ?? { text: 'The connection was closed', remedy: 'reload' };
