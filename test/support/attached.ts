import { join } from 'node:path';
import { newHome } from './open.ts';
import { type ServerOptions, serve, type TestServer } from './server.ts';
import { type InTerminal, inTerminal, type TerminalOptions } from './terminal.ts';

/** A server that also listens on a socket file. */
export interface LocalServer extends TestServer {
  readonly socketPath: string;
  /** `tau attach` in a terminal, over the socket file. */
  readonly attached: (words?: readonly string[], options?: TerminalOptions) => InTerminal;
}

/** Starts a server on a socket file, whose name is an awkward one. */
export async function serveOnSocket(options: ServerOptions = {}): Promise<LocalServer> {
  const home = options.home ?? newHome();
  const socketPath = join(home.root, 'a b:c?.sock');
  const server = await serve({ ...options, home, args: ['--socket', socketPath, ...(options.args ?? [])] });
  const attached = (words: readonly string[] = [], terminal: TerminalOptions = {}) =>
    inTerminal(home, ['attach', '--socket', socketPath, ...words], terminal);
  return { ...server, socketPath, attached };
}
