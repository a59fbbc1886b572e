import type { Grant } from '../../auth/grant.ts';
import { sendJson } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';

/** `GET /api/me`: who asks, and what they may do. */
export const me: Route = {
  methods: readMethods,
  requires: 'token',
  handle: ({ response, grant }) => sendJson(response, describeGrant(grant)),
};

/** What somebody may know of their own grant. */
export const describeGrant = ({ name, scopes }: Grant) => ({ name, scopes: [...scopes] });
