import type { Grant } from '../../auth/grant.ts';
import { HttpRefusal, sendJson, sendRefusal, sendText } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';
import type { SessionQuery } from '../services.ts';

/** `GET /healthz`: the server is alive. */
export const health: Route = {
  methods: readMethods,
  handle: ({ response }) => sendJson(response, { status: 'ok' }),
};

/** `GET /readyz`: the server accepts new clients. */
export const readiness: Route = {
  methods: readMethods,
  handle: ({ response, services }) => {
    const state = services.readiness();
    if (state === 'ready') sendJson(response, { status: state });
    else if (typeof state === 'string')
      sendRefusal(response, { status: 503, code: state, error: `The server is ${state}` });
    else
      sendRefusal(response, {
        status: 503,
        code: 'unavailable',
        error: `The server is unavailable: ${state.unavailable}`,
      });
  },
};

/** `GET /metrics`: all metrics in the Prometheus format. */
export const metrics: Route = {
  methods: readMethods,
  requires: 'view',
  handle: ({ response, services }) =>
    sendText(response, services.metrics.text(), { type: 'text/plain; version=0.0.4; charset=utf-8' }),
};

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

/** `GET /api/folders?path=&hidden=1`: the subfolders of a folder, for clients that may start a session. */
export const folders: Route = {
  methods: readMethods,
  requires: 'prompt',
  handle: async ({ response, admission, services, grant }) => {
    const path = admission.query.get('path') || undefined;
    sendJson(response, await services.listFolders(grant, { path, hidden: admission.query.get('hidden') === '1' }));
  },
};

/** `GET /api/me`: the client's own grant. */
export const me: Route = {
  methods: readMethods,
  requires: 'token',
  handle: ({ response, grant }) => sendJson(response, describeGrant(grant)),
};

/** The part of a grant that its holder may see. */
export const describeGrant = ({ name, scopes, limit }: Grant) => ({
  name,
  scopes: [...scopes],
  ...(limit === undefined ? {} : { limit }),
});
