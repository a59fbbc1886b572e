import { randomUuid } from '../../../client/random-uuid.ts';

/** What the address of the page names: a session, or one that is to be begun, in some folder. */
export type Place =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'new'; readonly id: string; readonly cwd: string | undefined };

/** A session of which nothing is on disk yet: a tab that is loaded again comes back to it. */
const BEGUN = 'tau-begun';

/** The place of an address. */
export function placeOf(search: string): Place {
  const query = new URLSearchParams(search);
  const session = query.get('session');
  if (session !== null) return { kind: 'session', id: session };
  const cwd = query.get('cwd') ?? undefined;
  const begun = sessionStorage.getItem(BEGUN);
  return cwd === undefined && begun !== null ? { kind: 'new', id: begun, cwd } : newPlace(cwd);
}

/** A place for a new session. */
export function newPlace(cwd?: string): Place {
  const id = randomUuid();
  if (cwd === undefined) sessionStorage.setItem(BEGUN, id);
  return { kind: 'new', id, cwd };
}

/** Something was said in the session that was begun: the next one is another. */
export const leaveBegun = (): void => sessionStorage.removeItem(BEGUN);

/** The address of a place, below wherever the page is. */
export function addressOf(place: Place): string {
  if (place.kind === 'session') return `?session=${encodeURIComponent(place.id)}`;
  return place.cwd === undefined ? './' : `?cwd=${encodeURIComponent(place.cwd)}`;
}
