/** The common part of the WebSockets of browsers and `ws`. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  /** Closes without a handshake; missing in browsers. */
  terminate?(): void;
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: SocketEvent) => void): void;
}

/** `data` of a message, `code` and `reason` of a close, `message` of an error. */
export interface SocketEvent {
  readonly data?: unknown;
  readonly code?: number;
  readonly reason?: string;
  readonly message?: string;
}

/** Starts to connect. Throws if the URL can never work. */
export type OpenSocket = (url: string) => Socket;

/** Uses the built-in WebSocket of browsers and Node 22. */
export const openBuiltInSocket: OpenSocket = (url) => {
  const { WebSocket } = globalThis as unknown as { WebSocket?: new (url: string) => Socket };
  if (!WebSocket) throw new Error('There is no WebSocket here: use tau-agent/client/node, or give one by `openSocket`');
  return new WebSocket(url);
};
