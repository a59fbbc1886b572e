import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The parameters that an issuer puts into the address to which it redirects the browser. */
export interface CallbackCheck {
  /** Throws, with a text for the browser, if the parameters do not belong to this login; the server keeps waiting. */
  readonly accept: (parameters: URLSearchParams) => void;
}

export interface CallbackServer {
  readonly port: number;
  /** Resolves with the first accepted parameters. Never rejects. */
  readonly parameters: Promise<URLSearchParams>;
  readonly close: () => void;
}

export interface CallbackOptions extends CallbackCheck {
  readonly host: string;
  /** 0 is any free one. */
  readonly port: number;
  readonly path: string;
}

/** Listens for the browser's return from an issuer. Rejects with the system's error if it cannot listen. */
export async function listenForCallback({ host, port, path, accept }: CallbackOptions): Promise<CallbackServer> {
  let isDone = false;
  let resolveParameters: (parameters: URLSearchParams) => void = () => {};
  const parameters = new Promise<URLSearchParams>((resolve) => {
    resolveParameters = resolve;
  });
  const server = createServer((request, response) => {
    const found = callbackIn(request, path);
    if (typeof found === 'number') return respond(response, found, 'There is nothing here.');
    if (isDone) return respond(response, 409, 'This sign-in is already complete.');
    try {
      accept(found);
    } catch (error) {
      return respond(response, 400, (error as Error).message);
    }
    isDone = true;
    respond(response, 200, 'tau has received the sign-in. You can close this window.');
    resolveParameters(found);
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    parameters,
    close: () => {
      server.close();
      // A spare connection of the browser would bring the callback of a later login to this server.
      setImmediate(() => server.closeAllConnections());
    },
  };
}

/** The parameters of a callback, or the status for any other request, such as one for an icon. */
function callbackIn({ method, url = '/' }: IncomingMessage, path: string): URLSearchParams | number {
  const [pathname, query] = url.split('?', 2);
  if (pathname !== path) return 404;
  return method === 'GET' ? new URLSearchParams(query) : 405;
}

function respond(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(`${text}\n`);
}
