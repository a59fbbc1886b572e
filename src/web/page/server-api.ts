import type { Result } from '../../protocol/generated/vocabulary.ts';

const SERVER_TIMEOUT_MS = 30_000;

/** The logged-in user and their scopes. */
export interface LoginInfo {
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Error of a request that the server rejected. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Logs in with a one-time code or a token; the server sets a cookie. */
export const logIn = (key: { readonly code: string } | { readonly token: string }): Promise<LoginInfo> =>
  request('api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(key),
  });

/** Returns the login of this browser; undefined when there is none. */
export async function currentLogin(): Promise<LoginInfo | undefined> {
  try {
    return await request<LoginInfo>('api/me');
  } catch (error) {
    if (error instanceof ServerRefusal && error.status === 401) return undefined;
    throw error;
  }
}

/** Ends the login of this browser. */
export const logOut = (): Promise<void> => request('api/logout', { method: 'POST' });

/** Lists stored sessions, newest first. `cursor` starts after an earlier page. */
export const listSessions = (limit: number, cursor?: string): Promise<Result<'list_sessions'>> =>
  request(`api/sessions?${new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) })}`);

/** A folder and its subfolders. */
export interface FoldersResponse {
  readonly path: string;
  readonly parent?: string | undefined;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  readonly hasMore: boolean;
}

/** Lists the subfolders of a folder; without a path, of the working directory of the server. */
export function listFolders(path: string | undefined, { hidden }: { hidden: boolean }): Promise<FoldersResponse> {
  const query = new URLSearchParams({ ...(path !== undefined && { path }), ...(hidden && { hidden: '1' }) });
  return request(`api/folders?${query}`);
}

/** Downloads a file from a one-time address given by the server. */
export async function fetchFile(address: string): Promise<Blob> {
  const response = await fetch(new URL(address, location.origin));
  if (!response.ok) throw new ServerRefusal(response.status, 'The file is there no more');
  return response.blob();
}

/** The WebSocket address of sessions. */
export const socketAddress = (): URL => new URL('session', location.href);

/** Sends a request relative to the base path of the page. */
async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  let response: Response;
  let body: unknown;
  try {
    response = await fetch(path, { ...init, signal: AbortSignal.timeout(SERVER_TIMEOUT_MS) });
    body = await response.json();
  } catch (error) {
    throw new Error('The server does not answer', { cause: error });
  }
  if (response.ok) return body as T;
  const { error = response.statusText } = body as { error?: string };
  throw new ServerRefusal(response.status, error);
}

const CODE_PREFIX = '#code=';

/** The login of this browser, or the error to show in the login form. */
export type LoginOutcome = LoginInfo | { readonly refusal: string | undefined };

/** Logs in with the code of a login link. A code that is used up does not end an existing login. */
export async function authenticate(): Promise<LoginOutcome> {
  // Following a login link on this page only changes the hash, which loads nothing.
  addEventListener('hashchange', () => location.hash.startsWith(CODE_PREFIX) && location.reload());
  const code = location.hash.startsWith(CODE_PREFIX) ? location.hash.slice(CODE_PREFIX.length) : undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  let refusal: string | undefined;
  try {
    if (code !== undefined) return await logIn({ code });
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    refusal = error.status === 401 ? 'This login link was used already, or is too old.' : error.message;
  }
  return (await currentLogin()) ?? { refusal };
}
