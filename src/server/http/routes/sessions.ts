import { HttpRefusal } from '../http-refusal.ts';
import { sendJson } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';
import type { SessionQuery } from '../services.ts';

/** `GET /api/sessions?cwd=&cursor=&limit=`: stored sessions, newest first. */
export const sessions: Route = {
  methods: readMethods,
  requires: 'view',
  handle: async ({ response, admission, services, grant }) =>
    sendJson(response, await services.listSessions(grant, queryFrom(admission.query))),
};

function queryFrom(query: URLSearchParams): SessionQuery {
  const cwd = query.get('cwd');
  const cursor = query.get('cursor');
  const limit = query.get('limit');
  if (limit && !/^[1-9][0-9]{0,8}$/.test(limit)) {
    throw new HttpRefusal(400, 'bad_request', '"limit" must be a whole number above 0');
  }
  return { ...(cwd && { cwd }), ...(cursor && { cursor }), ...(limit && { limit: Number(limit) }) };
}
