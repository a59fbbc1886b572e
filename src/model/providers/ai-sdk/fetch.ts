import { classifyFailure } from '../../classify-failure.ts';
import { finalBody } from '../../http/payload.ts';
import type { ModelRequest } from '../../request.ts';

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

const EXCERPT_LENGTH = 200;

/** Fetches, but rejects HTML, such as a login portal: packages would read it as an empty response. */
const fetchRejectingHtml: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (!response.ok || !/\bhtml\b/i.test(response.headers.get('content-type') ?? '')) return response;
  const page = (await response.text()).replaceAll(/\s+/g, ' ').trim().slice(0, EXCERPT_LENGTH);
  throw classifyFailure({ message: `Expected a stream of events, got a page: ${page}`, status: response.status });
};
