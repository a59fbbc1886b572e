/** What the WebSocket of browsers and the one of `ws` have in common. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Lets go without a goodbye. Browsers have no such thing. */
  terminate?(): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

/** What a socket tells: `data` of a message, `code` and `reason` of a close, `message` of an error. */
export interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Begins to connect to a URL. Throws where that can never work. */
export type OpenSocket = (url: string) => Socket;

/** With the WebSocket that is built in: browsers have one, and Node from version 22 on. */
export const openBuiltInSocket: OpenSocket = (url) => {
  const { WebSocket } = globalThis as unknown as { WebSocket?: new (url: string) => Socket };
  if (!WebSocket) throw new Error('There is no WebSocket here: use tau/client/node, or give one by `openSocket`');
  return new WebSocket(url);
};
