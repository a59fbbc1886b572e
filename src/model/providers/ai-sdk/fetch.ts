import { Readable } from 'node:stream';
import { classifyFailure } from '../../classify-failure.ts';
import { finalBody } from '../../http/payload.ts';
import { post } from '../../http/post.ts';
import { decodedBody } from '../../http/response.ts';
import type { ModelRequest } from '../../request.ts';

interface FetchOptions extends Pick<ModelRequest, 'onPayload' | 'signal'> {
  readonly connectMs: number;
}

/**
 * The fetch function for a package. Posts take the way of tau's own requests, with its proxy, connect timeout and
 * connections, and pass the body through the payload hook.
 */
export function packageFetch({ connectMs, ...request }: FetchOptions): typeof fetch {
  return async (input, init = {}) => {
    const { body, method, headers, signal } = init;
    const response =
      typeof body === 'string' && method?.toUpperCase() === 'POST'
        ? await postText({
            url: input instanceof Request ? input.url : String(input),
            headers: { 'accept-encoding': 'identity', ...Object.fromEntries(new Headers(headers)) },
            body: await hookedBody(body, request),
            connectMs,
            signal: signal ?? request.signal,
          })
        : await fetch(input, init);
    return rejectHtml(response);
  };
}

async function postText(message: Parameters<typeof post>[0]): Promise<Response> {
  const response = await post(message);
  const { statusCode: status = 0, statusMessage: statusText = '' } = response;
  const headers = Object.entries(response.headersDistinct).flatMap(([name, values = []]) =>
    name === 'content-encoding' || name === 'content-length'
      ? []
      : values.map((value): [string, string] => [name, value]),
  );
  const body = Readable.toWeb(await decodedBody(response)) as ReadableStream;
  return new Response(isBodiless(status) ? null : body, { status, statusText, headers });
}

// The constructor of a response rejects a body for these.
const isBodiless = (status: number) => status === 204 || status === 205 || status === 304;

async function hookedBody(text: string, request: Pick<ModelRequest, 'onPayload' | 'signal'>): Promise<string> {
  const body = request.onPayload ? jsonObjectIn(text) : undefined;
  return body ? JSON.stringify(await finalBody(body, request)) : text;
}

function jsonObjectIn(text: string): object | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const EXCERPT_LENGTH = 200;

// A page, such as a login portal: packages would read it as an empty response.
async function rejectHtml(response: Response): Promise<Response> {
  if (!response.ok || !/\bhtml\b/i.test(response.headers.get('content-type') ?? '')) return response;
  const page = (await response.text()).replaceAll(/\s+/g, ' ').trim().slice(0, EXCERPT_LENGTH);
  throw classifyFailure({ message: `Expected a stream of events, got a page: ${page}`, status: response.status });
}
