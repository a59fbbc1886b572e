import { randomUuid } from '../../../client/random-uuid.ts';
import { inAddress } from '../../in-address.ts';

/** What the address of the page names: a session, or one that is to be begun, in some folder. */
export type Place =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'new'; readonly id: string; readonly cwd: string | undefined };

/**
 * Where the page is. Of a new session nothing is on disk, and its address does not name it: the history of the tab remembers
 * which one it was, also when the page is loaded again.
 */
export function currentPlace(): Place {
  const query = new URLSearchParams(location.search);
  const session = query.get('session');
  if (session !== null) return { kind: 'session', id: session };
  const known: unknown = history.state;
  if (isPlace(known)) return known;
  const place = newPlace(query.get('cwd') ?? undefined);
  replacePlace(place);
  return place;
}

/** A place for a new session. */
export const newPlace = (cwd?: string): Place => ({ kind: 'new', id: randomUuid(), cwd });

/** The address of a place, below wherever the page is. */
export function addressOf(place: Place): string {
  if (place.kind === 'session') return `?session=${inAddress(place.id)}`;
  return place.cwd === undefined ? './' : `?cwd=${inAddress(place.cwd)}`;
}

/** From now on the page is here; Back leads to where it was. */
export const pushPlace = (place: Place): void => history.pushState(place, '', addressOf(place));

/** What the address named until now is here. */
export const replacePlace = (place: Place): void => history.replaceState(place, '', addressOf(place));

const isPlace = (value: unknown): value is Place =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'new' && 'id' in value;
