/** What it means that a connection was closed for good, and what helps: a session of one's own, or coming again. */
interface End {
  readonly words: string;
  readonly remedy: 'begin' | 'reload';
}

const ends: ReadonlyMap<number | undefined, End> = new Map([
  [4400, { words: 'This address makes no sense', remedy: 'begin' }],
  [4403, { words: 'That folder is not for this login', remedy: 'begin' }],
]);

/** By the code that the server closed it with. */
export const endOf = (code: number | undefined): End =>
  ends.get(code) ?? { words: 'The connection was closed', remedy: 'reload' };
