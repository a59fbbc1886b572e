import { classifyFailure } from '../../classify-failure.ts';

/** How much of a page is shown. */
const EXCERPT_LENGTH = 200;

/** Fetches as Node does, but for pages, as of a portal to log in at: a package would hear an empty answer in them. */
export const fetchRejectingHtml: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (!response.ok || !/\bhtml\b/i.test(response.headers.get('content-type') ?? '')) return response;
  const page = (await response.text()).replaceAll(/\s+/g, ' ').trim().slice(0, EXCERPT_LENGTH);
  throw classifyFailure({ message: `Expected a stream of events, got a page: ${page}`, status: response.status });
};
