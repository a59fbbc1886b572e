import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ErrorCode, Refusal } from '../../protocol/errors.ts';
import { parseHost } from './admission/origins.ts';

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

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
];

/** The headers of every response; a response may replace some of them. */
export const securityHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY.join('; '),
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Cache-Control': 'no-store',
};

const HSTS = 'max-age=31536000';

/** Makes browsers use TLS from now on. It applies to all ports of a host, so localhost gets none. */
const strictTransport = (hostname: string): Readonly<Record<string, string>> =>
  /(^|\.)localhost$/i.test(hostname) ? {} : { 'Strict-Transport-Security': HSTS };

export interface RawResponse {
  readonly status: number;
  readonly code: string;
  readonly error: string;
  readonly headers?: Readonly<Record<string, string>>;
}

// How long a client may take to read such a response.
const RAW_READ_MS = 1000;

/** Writes a response to a bare socket and ends it. */
export function respondRaw(socket: Duplex, { status, code, error, headers = {} }: RawResponse): void {
  if (socket.writableEnded) return;
  const body = `${JSON.stringify({ error, code })}\n`;
  const all = {
    ...securityHeaders,
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    Connection: 'close',
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
  // Discards further input for a while: destroying the socket with unread input could lose the response.
  socket.resume();
  const limit = setTimeout(() => socket.destroy(), RAW_READ_MS);
  socket.once('close', () => clearTimeout(limit));
}

/** A refusal with an HTTP status. The code is the contract; the text is for people. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  /** A refusal keeps its code. Any other error becomes `internal` without details. */
  static from(error: unknown): HttpRefusal {
    if (error instanceof HttpRefusal) return error;
    const status = error instanceof Refusal ? statuses[error.code] : undefined;
    if (error instanceof Refusal && status !== undefined) return new HttpRefusal(status, error.code, error.message);
    return new HttpRefusal(500, 'internal', 'Something went wrong in the server');
  }
}

const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_params: 400,
  permission_denied: 403,
  not_found: 404,
  session_not_found: 404,
  overloaded: 503,
};
