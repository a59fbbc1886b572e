/** What is asked for in the URL of a session. */
export interface RemoteTarget {
  readonly token?: string | undefined;
  /** The id of a session, or the path of its file. */
  readonly session?: string | undefined;
  /** Where a new session works. */
  readonly cwd?: string | undefined;
  /** How a new session is to be named, by a UUID: asking twice makes one. */
  readonly new?: string | undefined;
  /** How many of the last messages a snapshot has; all of them unless given. */
  readonly tail?: number | undefined;
  /** Whether every entry of the session file is told. */
  readonly entries?: boolean | undefined;
  /** Which dialogs and notices can be shown; all of them unless given. */
  readonly ui?: readonly string[] | undefined;
  readonly epoch?: string | undefined;
  readonly after?: number | undefined;
}

/**
 * The address of a server, which may name a session and a token. Throws a sentence without them. In Node it may be that
 * of a socket file, `ws+unix:/path/to/file:/session`.
 */
export function serverUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'ws+unix:') return url;
  if (url && /^https?:$/.test(url.protocol)) url.protocol = url.protocol.replace('http', 'ws');
  if (!url || !/^wss?:$/.test(url.protocol)) throw new Error('The address of a server begins with ws:// or wss://');
  if (url.pathname === '/') url.pathname = '/session';
  url.hash = '';
  return url;
}

/** What is asked for each time anew, whatever the address of the server says. */
const PER_CONNECTION = ['session', 'cwd', 'new', 'epoch', 'after'];

/** The address of a session. What is undefined is not asked for. */
export function sessionUrl(server: URL, { entries, ...target }: RemoteTarget): string {
  const url = new URL(server);
  for (const name of PER_CONNECTION) url.searchParams.delete(name);
  const params = {
    ...target,
    entries: entries === undefined ? undefined : Number(entries),
    stream: 'delta',
    legacyNames: 0,
  };
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) url.searchParams.set(name, String(value));
  }
  return url.href;
}
