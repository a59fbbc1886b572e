import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseHost } from './origins.ts';
import { strictTransport, securityHeaders } from './security-headers.ts';

/** Sets the headers that every response carries. */
export function setSecurityHeaders({ headers, socket }: IncomingMessage, response: ServerResponse): void {
  const hostname = parseHost(headers.host ?? '')?.name ?? '';
  const all = { ...securityHeaders, ...('encrypted' in socket ? strictTransport(hostname) : {}) };
  for (const [name, value] of Object.entries(all)) response.setHeader(name, value);
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  sendText(response, `${JSON.stringify(body)}\n`, { status, type: 'application/json' });
}

export function sendText(
  response: ServerResponse,
  text: string,
  { type, status = 200 }: { readonly type: string; readonly status?: number },
): void {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) }).end(text);
}

export function sendRefusal(
  response: ServerResponse,
  { status, code, error, headers = {} }: { status: number; code: string; error: string; headers?: object },
): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
  sendJson(response, { error, code }, status);
}
