import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';

/** Settles after so many words went to and fro over a socket that nothing disturbs: how long something lasts. */
export async function exchange(words: number): Promise<void> {
  const server = createServer((socket) => socket.setNoDelay().pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').setNoDelay();
  await once(socket, 'connect');
  for (let word = 0; word < words; word++) {
    socket.write('?');
    await once(socket, 'data');
  }
  socket.destroy();
  server.close();
}
