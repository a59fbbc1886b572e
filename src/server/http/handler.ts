import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Counter } from '../metrics.ts';
import { errorFields, type ServerLog } from '../server-log.ts';
import type { Admission, Rejection } from './admission/request-guard.ts';
import { HttpRefusal, sendRefusal, setSecurityHeaders } from './responses.ts';
import { matchRoute, runRoute } from './router.ts';
import type { HttpServices } from './services.ts';

// Paths that monitoring requests all the time.
const probes = new Set(['/healthz', '/readyz', '/metrics']);

/** Creates the handler of all HTTP requests. */
export function createHandler(services: HttpServices): RequestListener {
  const requestCounter = services.metrics.counter('tau_http_requests_total', 'Answers over HTTP.', ['route', 'status']);
  return (request, response) => {
    setSecurityHeaders(request, response);
    respond(request, response, { services, requestCounter }).catch((error) => sendError(error, response, services.log));
  };
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { services, requestCounter }: { readonly services: HttpServices; readonly requestCounter: Counter },
): Promise<void> {
  const startedAt = performance.now();
  const admission = services.guard.admit(request);
  const { name, route } = 'status' in admission ? refusedRoute : matchRoute(admission.path, services);
  response.once('close', () => {
    requestCounter.add({ route: name, status: String(response.statusCode) });
    writeAccess(services.log, { request, response, admission, name, ms: Math.round(performance.now() - startedAt) });
  });
  if ('status' in admission) sendRefusal(response, admission);
  else await runRoute(route, { request, response, admission, services });
}

const refusedRoute = { name: 'refused', route: undefined };

function writeAccess(
  log: ServerLog,
  {
    request,
    response,
    admission,
    ms,
    name,
  }: {
    request: IncomingMessage;
    response: ServerResponse;
    admission: Admission | Rejection;
    ms: number;
    name: string;
  },
): void {
  const [path = ''] = (request.url ?? '').split('?', 1);
  const grant = 'status' in admission ? undefined : admission.grant?.id;
  const { address } = admission;
  const access = { method: request.method ?? '', path, status: response.statusCode, ms, address, grant };
  log.access(access, { isProbe: probes.has(name) });
}

/** Responds with the error, or destroys a response that has begun. */
function sendError(error: unknown, response: ServerResponse, log: ServerLog): void {
  const { status, code, message, headers } = HttpRefusal.from(error);
  // A client that disconnects early is not a failure.
  if (status === 500 && !response.destroyed) log.event('error', 'failed', errorFields(error));
  if (response.headersSent) response.destroy();
  else sendRefusal(response, { status, code, error: message, headers });
}
