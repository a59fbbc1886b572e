import { closeCodes } from '../../../protocol/close-codes.ts';

/** What it means that a connection was closed for good, and what helps: a session of one's own, or coming again. */
interface End {
  readonly words: string;
  readonly remedy: 'begin' | 'reload';
  /** There is nothing else to be seen: this stands in the place of the session. */
  readonly isAlone?: true;
}

/** Without a valid login there is no page to say it on: that is for the form that asks for one. */
const ends: ReadonlyMap<number | undefined, End> = new Map([
  [closeCodes.badParameters, { words: 'This address makes no sense', remedy: 'begin' }],
  [closeCodes.denied, { words: 'That folder is not for this login', remedy: 'begin' }],
  [closeCodes.noSession, { words: 'There is no such session', remedy: 'begin', isAlone: true }],
]);

/** By the code that the server closed it with. */
export const endOf = (code: number | undefined): End =>
  ends.get(code) ?? { words: 'The connection was closed', remedy: 'reload' };
