import { request as httpRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RequestParams extends RequestOptions {
  readonly body?: string;
  readonly isTls?: boolean;
}

export function sendRequest({ body, isTls, ...options }: RequestParams): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const begin = isTls ? httpsRequest : httpRequest;
    const certain = { host: '127.0.0.1', agent: false as const, rejectUnauthorized: false };
    const request = begin({ ...certain, ...options }, (response) => {
      text(response).then(
        (received) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: received }),
        reject,
      );
    });
    request.on('error', reject).end(body);
  });
}

export function openSocket(to: number | NetConnectOpts, payload = ''): Socket {
  const socket = connect(typeof to === 'number' ? { host: '127.0.0.1', port: to } : to);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  socket.write(payload);
  return socket;
}

/** Reads until the connection ends, in whatever way. */
export function readToEnd(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let all = '';
    socket.on('data', (chunk) => {
      all += chunk;
    });
    socket.once('close', () => resolve(all));
  });
}
