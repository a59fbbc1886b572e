import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** Waits for this many round trips over an undisturbed socket: a delay that scales with the machine's load. */
export async function roundTrips(count: number): Promise<void> {
  const server = createServer((socket) => socket.setNoDelay().pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  for (let trip = 0; trip < count; trip++) {
    socket.write('?');
    await once(socket, 'data');
  }
  socket.destroy();
  server.close();
}
