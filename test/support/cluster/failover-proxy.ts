import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Starts a TCP proxy that leads each connection to the first of these ports that accepts it; returns its port. */
export async function startFailoverProxy(ports: readonly number[]): Promise<number> {
  const open = new Set<Socket>();
  const proxy = createServer((near) => {
    open.add(near);
    near.on('error', () => near.destroy()).on('close', () => open.delete(near));
    joinFirst(near, ports);
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of open) socket.destroy();
    proxy.close();
  });
  return (proxy.address() as AddressInfo).port;
}

/** Joins the connection with the first server that accepts; without one, closes it. */
function joinFirst(near: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    near.destroy();
    return;
  }
  const far = connect(port, '127.0.0.1');
  let isJoined = false;
  far.on('connect', () => {
    isJoined = true;
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
  });
  far.on('error', () => {
    if (isJoined) near.destroy();
    else joinFirst(near, others);
  });
}
