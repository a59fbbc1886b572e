import type { Grant } from '../../auth/grant.ts';
import { sendJson } from '../reply.ts';
import { type Route, reading } from '../route.ts';

/** `GET /api/me`: who asks, and what they may do. */
export const me: Route = {
  methods: reading,
  needs: 'token',
  answer: ({ response, grant }) => sendJson(response, described(grant)),
};

/** What somebody may know of their own grant. */
export const described = ({ name, scopes }: Grant) => ({ name, scopes: [...scopes] });
