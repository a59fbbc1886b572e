import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { startHttpMcpServer } from './mcp-http.ts';

/** A request that the authorization server received. */
interface OAuthRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: URLSearchParams;
}

export interface SignInBehaviour {
  /** Fields that replace those of the metadata of the authorization server. */
  readonly metadata?: object;
  /** Fields that replace those of the metadata of the protected resource. */
  readonly resource?: object;
  /** Seconds that an access token lives. */
  readonly expiresIn?: number;
  /** Handles a request before the authorization server does; true ends it. */
  readonly onRequest?: (response: ServerResponse, path: string) => boolean;
}

/** Starts an MCP server that requires a sign-in, and its authorization server on another port. */
export async function startProtectedServer({ metadata, resource, expiresIn = 3600, onRequest }: SignInBehaviour = {}) {
  const requests: OAuthRequest[] = [];
  const access = new Set<string>();
  const refresh = new Set<string>();
  const challenges = new Map<string, string>();
  const issueTokens = () => {
    const tokens = { access_token: `access-${randomUUID()}`, refresh_token: `refresh-${randomUUID()}` };
    access.add(tokens.access_token);
    refresh.add(tokens.refresh_token);
    return { ...tokens, token_type: 'Bearer', expires_in: expiresIn };
  };
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', issuer);
    const body = new URLSearchParams(await textOf(request));
    requests.push({ path: pathname, headers: request.headers, body });
    const json = (value: object, status = 200) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (onRequest?.(response, pathname)) return undefined;
    if (pathname === '/.well-known/oauth-authorization-server') return json({ ...ownMetadata(issuer), ...metadata });
    if (pathname === '/register') return json({ client_id: 'registered', redirect_uris: [] }, 201);
    if (pathname === '/authorize') {
      const code = randomUUID();
      challenges.set(code, searchParams.get('code_challenge') ?? '');
      const back = new URL(searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('code', code);
      back.searchParams.set('state', searchParams.get('state') ?? '');
      return void response.writeHead(302, { location: back.href }).end();
    }
    if (pathname !== '/token') return json({}, 404);
    const verifier = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url');
    const isValid =
      body.get('grant_type') === 'refresh_token'
        ? refresh.delete(body.get('refresh_token') ?? '')
        : challenges.get(body.get('code') ?? '') === verifier && body.get('resource') === mcp.url;
    return isValid ? json(issueTokens()) : json({ error: 'invalid_grant' }, 400);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.closeAllConnections());
  onTestFinished(() => void server.close());
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const mcp = await startHttpMcpServer({
    onRequest: (response, { url, headers }) => {
      if (url?.startsWith('/.well-known/oauth-protected-resource')) {
        const document = { resource: mcp.url, authorization_servers: [issuer], ...resource };
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
        return true;
      }
      if (access.has(headers.authorization?.replace('Bearer ', '') ?? '')) return false;
      const where = new URL('/.well-known/oauth-protected-resource/mcp', mcp.url).href;
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${where}"` }).end();
      return true;
    },
  });
  return { url: mcp.url, mcp, requests, access, refresh };
}

const ownMetadata = (issuer: string) => ({
  issuer,
  authorization_endpoint: `${issuer}/authorize`,
  token_endpoint: `${issuer}/token`,
  registration_endpoint: `${issuer}/register`,
  response_types_supported: ['code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
});

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
