import { randomUuid } from '../../../client/random-uuid.ts';
import { encodeUrlPart } from '../../url-part.ts';

/** The page address names a session, or a new session in a folder. */
export type PageLocation =
  | { readonly kind: 'session'; readonly id: string }
  | { readonly kind: 'new'; readonly id: string; readonly cwd: string | undefined };

/**
 * Returns the location of the page. A new session is not in the address: the tab history keeps its id over a reload.
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

/** Returns a location for a new session. */
export const newSessionLocation = (cwd?: string): PageLocation => ({ kind: 'new', id: randomUuid(), cwd });

/** Returns the address of a location, relative to the page. */
export function addressOf(target: PageLocation): string {
  if (target.kind === 'session') return `?session=${encodeUrlPart(target.id)}`;
  return target.cwd === undefined ? './' : `?cwd=${encodeUrlPart(target.cwd)}`;
}

/** Adds a history entry. */
export const pushLocation = (target: PageLocation): void => history.pushState(target, '', addressOf(target));

/** Replaces the current history entry. */
export const replaceLocation = (target: PageLocation): void => history.replaceState(target, '', addressOf(target));

const isNewSessionLocation = (value: unknown): value is PageLocation =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'new' && 'id' in value;
