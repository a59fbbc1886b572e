import type { Result } from '../../protocol/generated/vocabulary.ts';

/** How long the server may take to answer. */
const SERVER_TIMEOUT_MS = 30_000;

/** Who looks at the page, and what they may do. */
export interface LoginInfo {
  readonly name: string;
  readonly scopes: readonly string[];
}

/** The server said no. */
export class ServerRefusal extends Error {
  override readonly name = 'ServerRefusal';
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Lets this browser in by a one-time code or a token: from then on it has a cookie. */
export const logIn = (key: { readonly code: string } | { readonly token: string }): Promise<LoginInfo> =>
  request('api/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(key),
  });

/** Who this browser is logged in as; undefined when it is not. */
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

/** Stored sessions, the newest first, so many of them. `cursor`: those after a page of them. */
export const listSessions = (limit: number, cursor?: string): Promise<Result<'list_sessions'>> =>
  request(`api/sessions?${new URLSearchParams({ limit: String(limit), ...(cursor !== undefined && { cursor }) })}`);

/** A folder in which a session may begin, and those in it. */
export interface FoldersResponse {
  readonly path: string;
  readonly parent?: string | undefined;
  readonly folders: readonly { readonly name: string; readonly path: string }[];
  readonly hasMore: boolean;
}

/** The folders in a folder; without one, where the server runs. */
export function listFolders(path: string | undefined, { hidden }: { hidden: boolean }): Promise<FoldersResponse> {
  const query = new URLSearchParams({ ...(path !== undefined && { path }), ...(hidden && { hidden: '1' }) });
  return request(`api/folders?${query}`);
}

/** A file that is offered once, at an address that the server gave. */
export async function fetchFile(address: string): Promise<Blob> {
  const response = await fetch(new URL(address, location.origin));
  if (!response.ok) throw new ServerRefusal(response.status, 'The file is there no more');
  return response.blob();
}

/** Where the sockets of sessions are. */
export const socketAddress = (): URL => new URL('session', location.href);

/** Asks for something below the base path, wherever that is. */
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
