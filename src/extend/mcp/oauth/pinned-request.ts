import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { version } from '../../../protocol/generated/version.ts';

/** Sends a request to one of these addresses. The name of its host is not resolved again. */
export async function requestPinned(request: Request, addresses: readonly LookupAddress[]): Promise<IncomingMessage> {
  const { url, method, headers, signal } = request;
  const body = Buffer.from(await request.arrayBuffer());
  const start = url.startsWith('https:') ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const sent = start(url, {
      method,
      headers: {
        accept: '*/*',
        'user-agent': `tau/${version}`,
        ...Object.fromEntries(headers),
        ...(body.length === 0 ? {} : { 'content-length': body.length }),
      },
      lookup: lookupOf(addresses),
      // A kept connection could lead to another address.
      agent: false,
    });
    const abort = () => void sent.destroy(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    sent.once('close', () => signal.removeEventListener('abort', abort));
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end(body);
  });
}

const lookupOf =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
