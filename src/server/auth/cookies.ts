/** What cookies of a server look like. */
export interface CookieOptions {
  /** Asked when a cookie is made or read: a server that takes any port knows it once it listens. */
  readonly port: () => number;
  /** Below which path everything is, such as `/tau`; empty when it is the root. */
  readonly basePath: string;
  /** Whether browsers come over TLS. */
  readonly secure: boolean;
}

/** A browser may hold cookies of one name for several paths. More than this are not looked at. */
const MAX_COOKIES_READ = 4;

/** Cookies know no ports: the name keeps servers of one machine apart. */
const nameOf = ({ port }: CookieOptions) => `tau_${port()}`;

/** What the cookies of this server say in a Cookie header. */
export function cookieValues(header: string, options: CookieOptions): readonly string[] {
  const start = `${nameOf(options)}=`;
  return header
    .split(';')
    .map((cookie) => cookie.trim())
    .filter((cookie) => cookie.startsWith(start) && cookie.length > start.length)
    .slice(0, MAX_COOKIES_READ)
    .map((cookie) => cookie.slice(start.length));
}

/** A Set-Cookie header: no script reads it, and no other site makes a browser send it. */
export function setCookie(options: CookieOptions, cookie: { value: string; maxAgeMs: number }): string {
  const parts = [
    `${nameOf(options)}=${cookie.value}`,
    `Path=${options.basePath}/`,
    `Max-Age=${Math.max(0, Math.floor(cookie.maxAgeMs / 1000))}`,
    'HttpOnly',
    'SameSite=Strict',
  ];
  return (options.secure ? [...parts, 'Secure'] : parts).join('; ');
}
