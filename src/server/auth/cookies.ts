/** Name, path and flags of the cookies of a server. */
export interface CookieOptions {
  /** A function, because a server on port 0 gets its port only when it listens. */
  readonly name: () => string;
  /** The path below which everything is served, such as `/tau`; empty for the root. */
  readonly basePath: string;
  /** Whether browsers connect over TLS. */
  readonly secure: boolean;
}

/** A browser may hold cookies of one name for several paths; further ones are ignored. */
const MAX_COOKIES_READ = 4;

/** The name of cookies of a server that has its logins for itself: browsers send cookies to all ports of a host. */
export const cookieNameOf = (port: number): string => `tau_${port}`;

/** The values of this server's cookies in a Cookie header. */
export function cookieValues(header: string, options: CookieOptions): readonly string[] {
  const start = `${options.name()}=`;
  return header
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(start) && cookie.length > start.length)
    .slice(0, MAX_COOKIES_READ)
    .map((cookie) => cookie.slice(start.length));
}

/** A Set-Cookie header: scripts cannot read the cookie, and other sites cannot make a browser send it. */
export function setCookie(options: CookieOptions, cookie: { value: string; maxAgeMs: number }): string {
  const parts = [
    `${options.name()}=${cookie.value}`,
    `Path=${options.basePath}/`,
    `Max-Age=${Math.max(0, Math.floor(cookie.maxAgeMs / 1000))}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return (options.secure ? [...parts, 'Secure'] : parts).join('; ');
}
