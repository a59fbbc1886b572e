import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Grant, Scope } from '../auth/grant.ts';
import type { Admission } from './front-door.ts';
import type { Services } from './services.ts';

/** One request that was let in, and what is needed to answer it. */
export interface Call {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly admission: Admission;
  readonly services: Services;
}

/** A call by somebody who may make it. */
export interface GrantedCall extends Call {
  readonly grant: Grant;
}

export type Method = 'GET' | 'HEAD' | 'POST';

/** What is at a path: for anybody, or for those with a token, of some scope where one is named. */
export type Route =
  | {
      readonly methods: readonly Method[];
      readonly needs?: undefined;
      readonly answer: (call: Call) => void | Promise<void>;
    }
  | {
      readonly methods: readonly Method[];
      readonly needs: Scope | 'token';
      readonly answer: (call: GrantedCall) => void | Promise<void>;
    };

/** The methods of what is only looked at. */
export const reading: readonly Method[] = ['GET', 'HEAD'];
