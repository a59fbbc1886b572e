import { classifyFailure } from '../../classify-failure.ts';

const EXCERPT_LENGTH = 200;

/** Fetches, but rejects HTML, such as a login portal: packages would read it as an empty response. */
export const fetchRejectingHtml: typeof fetch = async (...request) => {
  const response = await fetch(...request);
  if (!response.ok || !/\bhtml\b/i.test(response.headers.get('content-type') ?? '')) return response;
  const page = (await response.text()).replaceAll(/\s+/g, ' ').trim().slice(0, EXCERPT_LENGTH);
  throw classifyFailure({ message: `Expected a stream of events, got a page: ${page}`, status: response.status });
};
