import { finalBody } from '../../http/payload.ts';
import type { ModelRequest } from '../../request.ts';
import { fetchRejectingHtml } from './fetch-no-page.ts';

/** The fetch function for a package: it passes the body through the payload hook. */
export function fetchWithPayloadHook(request: Pick<ModelRequest, 'onPayload' | 'signal'>): typeof fetch {
  if (!request.onPayload) return fetchRejectingHtml;
  return async (input, init) => {
    const body = jsonObjectIn(init?.body);
    if (!body) return fetchRejectingHtml(input, init);
    return fetchRejectingHtml(input, { ...init, body: JSON.stringify(await finalBody(body, request)) });
  };
}

function jsonObjectIn(body: unknown): object | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
