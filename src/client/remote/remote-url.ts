/** The query parameters of a session URL. */
export interface RemoteTarget {
  readonly token?: string | undefined;
  /** A session id, or the path of a session file. */
  readonly session?: string | undefined;
  /** The working folder of a new session. */
  readonly cwd?: string | undefined;
  /** The id of a new session, a UUID: repeated requests open one session. */
  readonly new?: string | undefined;
  /** The number of last messages in a snapshot; default all. */
  readonly tail?: number | undefined;
  /** Whether to publish every entry of the session file. */
  readonly entries?: boolean | undefined;
  /** The supported dialogs and notices; default all. */
  readonly ui?: readonly string[] | undefined;
  readonly epoch?: string | undefined;
  readonly after?: number | undefined;
}

/** The addresses of nodes of one cluster: an array, or one text with commas between them. */
export type ServerAddresses = string | readonly string[];

/**
 * Parses the addresses of a server, each as `serverUrl` does. Parameters of the first one, such as its token, count for
 * every address that does not set them itself.
 */
export function serverUrls(addresses: ServerAddresses): readonly [URL, ...URL[]] {
  const texts = typeof addresses === 'string' ? splitAddresses(addresses) : addresses;
  const [first = serverUrl(''), ...others] = texts.map((address) => serverUrl(address.trim()));
  for (const url of others) {
    for (const [name, value] of first.searchParams) if (!url.searchParams.has(name)) url.searchParams.set(name, value);
  }
  return [first, ...others];
}

/** Splits at commas before an address; other commas belong to one. */
export const splitAddresses = (text: string): readonly string[] => text.split(/,\s*(?=(?:wss?|https?|ws\+unix):)/i);

/**
 * Parses the address of a server, which may name a session and a token; errors do not repeat it. In Node it may be a
 * socket file: `ws+unix:/path/to/file:/session`.
 */
export function serverUrl(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'ws+unix:') return url;
  if (url && /^https?:$/.test(url.protocol)) url.protocol = url.protocol.replace('http', 'ws');
  if (!url || !/^wss?:$/.test(url.protocol) || url.hostname.includes(','))
    throw new Error('The address of a server begins with ws:// or wss://');
  if (url.pathname === '/') url.pathname = '/session';
  url.hash = '';
  return url;
}

// Set for each connection; values in the server address are dropped.
const PER_CONNECTION = ['session', 'cwd', 'new', 'epoch', 'after'];

/** Builds the URL of a session, without undefined parameters. */
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
