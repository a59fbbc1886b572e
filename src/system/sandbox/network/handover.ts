import { spawn } from 'node:child_process';
import type { Server } from 'node:net';
import { TAG_VARIABLE } from '../../processes/process-table.ts';
import { processTag } from '../../processes/process-tag.ts';
import { withTimeout } from '../../with-timeout.ts';

const HANDOVER_MS = 10_000;

const SCRIPT = `
const server = require('node:net').createServer((socket) => socket.destroy());
server.listen(Number(process.argv[1]), '127.0.0.1', () => {
  process.send('listening', server, () => process.exit());
});
`;

/**
 * Opens a listening socket on the loopback of a cell and returns it to this process.
 *
 * A socket belongs to the network in which it was made: a program that enters it for a moment makes the socket and
 * sends the descriptor. No process stays inside that a command could attack.
 */
export async function listenInCell(enterNetwork: readonly string[], port: number): Promise<Server> {
  const [command = '', ...args] = enterNetwork;
  const child = spawn(command, [...args, process.execPath, '-e', SCRIPT, String(port)], {
    cwd: '/',
    env: { [TAG_VARIABLE]: `${processTag()}:cell` },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const received = new Promise<Server>((resolve, reject) => {
    child.once('message', (_message, server) => resolve(server as Server));
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`The proxy of the sandbox cannot listen: ${errors.trim()}`)));
  });
  const ended = new Promise((resolve) => child.once('close', resolve).once('error', resolve));
  try {
    const server = await withTimeout(HANDOVER_MS, received, 'The proxy of the sandbox did not start in time');
    server.unref();
    // Until then it holds the socket too and could accept a connection.
    await ended;
    return server;
  } finally {
    child.kill('SIGKILL');
  }
}
