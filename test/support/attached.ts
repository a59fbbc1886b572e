import { join } from 'node:path';
import { newHome } from './open.ts';
import { type ServerOptions, startServer, type TestServer } from './server.ts';
import { type TerminalProgram, startTauInTerminal, type TerminalOptions } from './terminal.ts';

/** A server that also listens on a Unix socket. */
export interface SocketServer extends TestServer {
  readonly socketPath: string;
  /** Runs `tau attach` over the Unix socket, in a terminal. */
  readonly attachInTerminal: (args?: readonly string[], options?: TerminalOptions) => TerminalProgram;
}

/** Starts a server on a Unix socket whose path needs escaping in URLs. */
export async function startServerOnSocket(options: ServerOptions = {}): Promise<SocketServer> {
  const home = options.home ?? newHome();
  const socketPath = join(home.root, 'a b:c?.sock');
  const server = await startServer({ ...options, home, args: ['--socket', socketPath, ...(options.args ?? [])] });
  const attachInTerminal = (args: readonly string[] = [], terminal: TerminalOptions = {}) =>
    startTauInTerminal(home, ['attach', '--socket', socketPath, ...args], terminal);
  return { ...server, socketPath, attachInTerminal };
}
