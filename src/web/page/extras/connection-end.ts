import { closeCodes } from '../../../protocol/close-codes.ts';
import type { LiveSession } from '../state/live-session.ts';

/** What it means that there is no connection, and what helps: a session of one's own, or coming again. */
interface End {
  readonly words: string;
  readonly remedy: 'begin' | 'reload';
}

/** Without a valid login there is no page to say it on: that is for the form that asks for one. */
const ends: ReadonlyMap<number | undefined, End> = new Map([
  [closeCodes.badParameters, { words: 'This address makes no sense', remedy: 'begin' }],
  [closeCodes.denied, { words: 'That folder is not for this login', remedy: 'begin' }],
  [closeCodes.noSession, { words: 'There is no such session', remedy: 'begin' }],
  [closeCodes.inUse, { words: 'This session is open in another program', remedy: 'begin' }],
]);

/** Whether there is nothing else to be seen: why that is stands in the place of the session. */
export const isAlone = ({ connection, isKnown }: LiveSession): boolean =>
  connection.value.code === closeCodes.noSession || (connection.value.code === closeCodes.inUse && !isKnown.value);

/** By the code that the server closed it with. */
export const endOf = (code: number | undefined): End =>
  ends.get(code) ?? { words: 'The connection was closed', remedy: 'reload' };
