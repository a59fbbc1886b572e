import { type AuthProvider, ProtocolError } from '@modelcontextprotocol/client';
import { statusOf } from '../describe-failure.ts';
import type { McpTarget } from '../server-target.ts';
import type { HttpTransport } from './http-transport.ts';
import type { SseTransport } from './sse-transport.ts';
import { StdioTransport } from './stdio-transport.ts';

export type McpTransport = StdioTransport | HttpTransport | SseTransport;

/** Which revisions of the protocol a connection offers. */
export type Negotiation = 'auto' | 'legacy' | { readonly pin: string };

/** A way to reach a server. */
export interface OpeningAttempt {
  readonly negotiation: Negotiation;
  readonly createTransport: () => Promise<McpTransport>;
  /** Whether this way is tried after the first one failed with this error. */
  readonly isNext: (error: unknown) => boolean;
}

const MODERN_REVISION = '2026-07-28';

// The codes with which a server refuses `initialize`: unknown method, unsupported revision, invalid request or params.
const REFUSED_INITIALIZE = [-32601, -32022, -32600, -32602];

// The statuses that the protocol names as the sign of a server with the old transport.
const OLD_TRANSPORT_STATUSES = [400, 404, 405];

/** The ways to reach a server, best first. */
export function openingAttempts(
  endpoint: McpTarget['endpoint'],
  auth: AuthProvider | undefined,
): readonly OpeningAttempt[] {
  if ('program' in endpoint) {
    const createTransport = async () => new StdioTransport(endpoint.program);
    // Old servers exit at a request before `initialize`, or ignore it; new ones refuse `initialize` by an error.
    return [
      { negotiation: 'legacy', createTransport, isNext: () => true },
      {
        negotiation: { pin: MODERN_REVISION },
        createTransport,
        isNext: (error) => error instanceof ProtocolError && REFUSED_INITIALIZE.includes(error.code),
      },
    ];
  }
  const sse: OpeningAttempt = {
    negotiation: 'legacy',
    createTransport: async () => new (await import('./sse-transport.ts')).SseTransport({ ...endpoint, auth }),
    isNext: (error) => OLD_TRANSPORT_STATUSES.includes(statusOf(error) ?? 0),
  };
  if (endpoint.isSse) return [sse];
  return [
    {
      negotiation: 'auto',
      createTransport: async () => new (await import('./http-transport.ts')).HttpTransport({ ...endpoint, auth }),
      isNext: () => true,
    },
    sse,
  ];
}
