import { finalBody } from '../../http/payload.ts';
import type { ModelRequest } from '../../request.ts';
import { fetchNoPage } from './fetch-no-page.ts';

/** How a package fetches: whoever wants to change the body that it posts sees it first. */
export function fetchPayload(request: Pick<ModelRequest, 'onPayload' | 'signal'>): typeof fetch {
  if (!request.onPayload) return fetchNoPage;
  return async (input, init) => {
    const body = objectIn(init?.body);
    if (!body) return fetchNoPage(input, init);
    return fetchNoPage(input, { ...init, body: JSON.stringify(await finalBody(body, request)) });
  };
}

/** What a body of JSON holds; undefined for any other. */
function objectIn(body: unknown): object | undefined {
  if (typeof body !== 'string' || !body.startsWith('{')) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
