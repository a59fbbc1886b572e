import { createHash, createHmac } from 'node:crypto';

/** Keys of AWS that sign requests. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
}

export interface SignatureOptions {
  readonly method: string;
  readonly url: URL;
  /** Those to sign, with lower-case names; `host` and the date are added. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly keys: AwsKeys;
  readonly region: string;
  readonly service: string;
  readonly date: Date;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** The headers that sign a request by version 4 of AWS's signature. */
export function signatureHeaders({ keys, ...request }: SignatureOptions): Record<string, string> {
  const { url, region, service, date } = request;
  const timestamp = date.toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  const added = {
    'x-amz-date': timestamp,
    ...(keys.sessionToken === undefined ? {} : { 'x-amz-security-token': keys.sessionToken }),
  };
  const signed = Object.entries({ ...request.headers, host: url.host, ...added }).sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  const names = signed.map(([name]) => name).join(';');
  const canonicalRequest = [
    request.method,
    canonicalPath(url),
    canonicalQuery(url),
    ...signed.map(([name, value]) => `${name}:${value.trim().replaceAll(/\s+/g, ' ')}`),
    '',
    names,
    sha256(request.body),
  ].join('\n');
  const day = timestamp.slice(0, 8);
  const scope = `${day}/${region}/${service}/aws4_request`;
  const text = [ALGORITHM, timestamp, scope, sha256(canonicalRequest)].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(hmac, `AWS4${keys.secretAccessKey}`);
  const signature = hmac(key, text).toString('hex');
  const credential = `Credential=${keys.accessKeyId}/${scope}`;
  return { ...added, authorization: `${ALGORITHM} ${credential}, SignedHeaders=${names}, Signature=${signature}` };
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const hmac = (key: Buffer | string, text: string) => createHmac('sha256', key).update(text).digest();

// The path is encoded once more than it is sent, as all services but S3 require.
const canonicalPath = ({ pathname }: URL) => pathname.split('/').map(encoded).join('/');

const canonicalQuery = ({ searchParams }: URL) =>
  [...searchParams]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&');

const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
