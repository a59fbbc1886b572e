import { finalBody } from '../../http/payload.ts';
import type { ModelRequest } from '../../request.ts';
import { fetchRejectingHtml } from './fetch-no-page.ts';

/** How a package fetches: whoever wants to change the body that it posts sees it first. */
export function fetchWithPayloadHook(request: Pick<ModelRequest, 'onPayload' | 'signal'>): typeof fetch {
  if (!request.onPayload) return fetchRejectingHtml;
  return async (input, init) => {
    const body = jsonObjectIn(init?.body);
    if (!body) return fetchRejectingHtml(input, init);
    return fetchRejectingHtml(input, { ...init, body: JSON.stringify(await finalBody(body, request)) });
  };
}

/** What a body of JSON holds; undefined for any other. */
function jsonObjectIn(body: unknown): object | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
