import type { Grant } from '../../auth/grant.ts';
import { sendJson } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';

/** `GET /api/me`: the client's own grant. */
export const me: Route = {
  methods: readMethods,
  requires: 'token',
  handle: ({ response, grant }) => sendJson(response, describeGrant(grant)),
};

/** The part of a grant that its holder may see. */
export const describeGrant = ({ name, scopes }: Grant) => ({ name, scopes: [...scopes] });
