import { randomUuid } from '../../../client/random-uuid.ts';
import { inAddress } from '../../in-address.ts';

/** What the address of the page names: a session, or one that is to be begun, in some folder. */
export type PageLocation =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'new'; readonly id: string; readonly cwd: string | undefined };

/**
 * Where the page is. Of a new session nothing is on disk, and its address does not name it: the history of the tab remembers
 * which one it was, also when the page is loaded again.
 */
export function currentLocation(): PageLocation {
  const query = new URLSearchParams(location.search);
  const session = query.get('session');
  if (session !== null) return { kind: 'session', id: session };
  const stored: unknown = history.state;
  if (isNewSessionLocation(stored)) return stored;
  const fresh = newSessionLocation(query.get('cwd') ?? undefined);
  replaceLocation(fresh);
  return fresh;
}

/** A place for a new session. */
export const newSessionLocation = (cwd?: string): PageLocation => ({ kind: 'new', id: randomUuid(), cwd });

/** The address of a place, below wherever the page is. */
export function addressOf(target: PageLocation): string {
  if (target.kind === 'session') return `?session=${inAddress(target.id)}`;
  return target.cwd === undefined ? './' : `?cwd=${inAddress(target.cwd)}`;
}

/** From now on the page is here; Back leads to where it was. */
export const pushLocation = (target: PageLocation): void => history.pushState(target, '', addressOf(target));

/** What the address named until now is here. */
export const replaceLocation = (target: PageLocation): void => history.replaceState(target, '', addressOf(target));

const isNewSessionLocation = (value: unknown): value is PageLocation =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'new' && 'id' in value;
