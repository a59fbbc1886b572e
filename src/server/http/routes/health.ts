import { sendJson, sendRefusal } from '../responses.ts';
import { type Route, readMethods } from '../route.ts';

/** `GET /healthz`: the server is alive. */
export const health: Route = {
  methods: readMethods,
  handle: ({ response }) => sendJson(response, { status: 'ok' }),
};

/** `GET /readyz`: the server accepts new clients. */
export const readiness: Route = {
  methods: readMethods,
  handle: ({ response, services }) => {
    const status = services.readiness();
    if (status === 'ready') sendJson(response, { status });
    else sendRefusal(response, { status: 503, code: status, error: `The server is ${status}` });
  },
};
