import { type CallbackServer, listenForCallback } from '../../../model/sign-in/callback-server.ts';

const CALLBACK_PATH = '/callback';

/** The port and address of the redirect, where the authorization server requires them. */
export interface RedirectOptions {
  readonly port?: number | undefined;
  readonly url?: string | undefined;
}

/** Receives the browser after a sign-in, on this machine only. */
export class RedirectReceiver {
  /** The address that the authorization server redirects to. */
  readonly redirectUrl: string;
  readonly #server: CallbackServer;
  readonly #expected: { state?: string };

  private constructor(server: CallbackServer, redirectUrl: string, expected: { state?: string }) {
    this.#server = server;
    this.redirectUrl = redirectUrl;
    this.#expected = expected;
  }

  /** Listens on the given port; on any free one if it is in use or not given. */
  static async listen({ port, url = `http://127.0.0.1${CALLBACK_PATH}` }: RedirectOptions): Promise<RedirectReceiver> {
    const address = new URL(url);
    const host = address.hostname === '[::1]' ? '::1' : '127.0.0.1';
    const expected: { state?: string } = {};
    const accept = (parameters: URLSearchParams) => {
      if (expected.state === undefined || parameters.get('state') !== expected.state)
        throw new Error('This is not the expected sign-in.');
    };
    const listenOn = (requestedPort: number) =>
      listenForCallback({ host, port: requestedPort, path: address.pathname, accept });
    const server = await listenOn(port ?? Number(address.port)).catch(() => listenOn(0));
    address.port = String(server.port);
    return new RedirectReceiver(server, address.href, expected);
  }

  /** Resolves with the parameters of the first callback with this state. */
  receive(state: string): Promise<URLSearchParams> {
    this.#expected.state = state;
    return this.#server.parameters;
  }

  close(): void {
    this.#server.close();
  }
}
