import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Grant, Scope } from '../auth/grant.ts';
import type { Admission } from './request-guard.ts';
import type { HttpServices } from './services.ts';

/** One request that was let in, and what is needed to answer it. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admission: Admission;
  readonly services: HttpServices;
}

/** A call by somebody who may make it. */
export interface AuthorizedExchange extends HttpExchange {
  readonly grant: Grant;
}

export type HttpMethod = 'GET' | 'HEAD' | 'POST';

/** What is at a path: for anybody, or for those with a token, of some scope where one is named. */
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

/** The methods of what is only looked at. */
export const readMethods: readonly HttpMethod[] = ['GET', 'HEAD'];
