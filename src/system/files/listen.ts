import { createServer, type Server, type Socket } from 'node:net';

/** Listens on a socket path of this process alone, and does not keep the process alive. */
export function listenExclusively(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(onConnection);
    server.once('error', reject);
    server.listen({ path, exclusive: true }, () => {
      // From here on an error is a failed accept: that client gets no response, the server stays.
      server.on('error', () => undefined).unref();
      resolve(server);
    });
  });
}

export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}
