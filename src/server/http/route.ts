import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Grant, Scope } from '../auth/grant.ts';
import type { Admission } from './admission/request-guard.ts';
import type { HttpServices } from './services.ts';

/** An admitted request with everything needed to respond. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admission: Admission;
  readonly services: HttpServices;
}

/** An exchange with a grant that permits it. */
export interface AuthorizedExchange extends HttpExchange {
  readonly grant: Grant;
}

export type HttpMethod = 'GET' | 'HEAD' | 'POST';

/** A route: public, or for clients with a token and, if named, a scope. */
export type Route =
  | {
      readonly methods: readonly HttpMethod[];
      readonly requires?: undefined;
      readonly handle: (exchange: HttpExchange) => void | Promise<void>;
    }
  | {
      readonly methods: readonly HttpMethod[];
      readonly requires: Scope | 'token';
      readonly handle: (exchange: AuthorizedExchange) => void | Promise<void>;
    };

/** The methods of read-only routes. */
export const readMethods: readonly HttpMethod[] = ['GET', 'HEAD'];
