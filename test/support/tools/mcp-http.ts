import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request that the server received. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The JSON-RPC method, if the body has one. */
  readonly rpc: string | undefined;
}

interface Message {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly name?: string; readonly protocolVersion?: string; readonly arguments?: unknown };
}

export interface HttpBehaviour {
  /** Responds with event streams instead of plain JSON. */
  readonly streams?: boolean;
  /** Handles tool calls instead of the server. */
  readonly onCall?: (response: ServerResponse, message: Message) => void;
  /** Handles a request before the server does; true ends it. */
  readonly onRequest?: (response: ServerResponse, request: IncomingMessage) => boolean;
}

/** Starts an MCP server over HTTP on this machine, which records its requests. */
export async function startHttpMcpServer({ streams = false, onCall, onRequest }: HttpBehaviour = {}) {
  const requests: ReceivedRequest[] = [];
  const sessions = new Set<string>();
  const server = createServer(async (request, response) => {
    const message = JSON.parse((await textOf(request)) || '{}') as Message;
    const { method = '', url: path = '', headers } = request;
    requests.push({ method, path, headers, rpc: message.method });
    if (onRequest?.(response, request)) return;
    if (method === 'DELETE') sessions.delete(String(headers['mcp-session-id']));
    if (method !== 'POST') return void response.writeHead(method === 'DELETE' ? 200 : 405).end();
    const isNew = message.method === 'initialize';
    if (!isNew && !sessions.has(String(headers['mcp-session-id']))) return void response.writeHead(404).end('gone');
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === 'tools/call' && onCall) return onCall(response, message);
    const session = `session-${sessions.size}-${requests.length}`;
    if (isNew) sessions.add(session);
    const body = JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) });
    response.writeHead(200, {
      'content-type': streams ? 'text/event-stream' : 'application/json',
      ...(isNew ? { 'mcp-session-id': session } : {}),
    });
    response.end(streams ? `: hello\r\n\r\nevent: message\r\ndata: ${body}\r\n\r\n` : body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, requests, sessions, close };
}

function resultOf({ method, params }: Message): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'web', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'echo', inputSchema: { type: 'object' } }] };
    default:
      return { content: [{ type: 'text', text: JSON.stringify(params?.arguments) }] };
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
