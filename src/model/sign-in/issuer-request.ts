import { messageOf } from '../../protocol/errors.ts';
import { version } from '../../protocol/generated/version.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';
import { post } from '../http/post.ts';
import { decodedBody } from '../http/response.ts';
import { redact } from '../keys/redact.ts';

const ISSUER_TIMEOUT_MS = 15_000;

// Larger responses are rejected.
const MAX_ISSUER_BYTES = 1024 * 1024;

const MAX_REASON_CHARACTERS = 300;

/** The response of an issuer, successful or not. */
export interface IssuerResponse {
  readonly status: number;
  readonly body: JsonObject;
}

/** A request to an issuer; without fields and json it is a GET. */
export interface IssuerRequest {
  readonly url: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly json?: JsonObject;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

// A refresh token that will never work again.
const PERMANENT_CODES: ReadonlySet<string> = new Set([
  'invalid_grant',
  'refresh_token_reused',
  'refresh_token_expired',
  'refresh_token_invalidated',
]);

/** An issuer rejected a request or could not be reached. The message contains no token. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError';
  /** Whether only a new login helps. */
  readonly isPermanent: boolean;

  constructor(message: string, { isPermanent = false } = {}) {
    super(message);
    this.isPermanent = isPermanent;
  }
}

/** Sends a request and reads the JSON object of its response. Throws an `IssuerError`, or the reason of an abort. */
export async function requestIssuer(request: IssuerRequest): Promise<IssuerResponse> {
  const { url, fields, json, headers, signal } = request;
  const { host } = new URL(url);
  const timeout = AbortSignal.timeout(ISSUER_TIMEOUT_MS);
  const body = fields ? new URLSearchParams(fields).toString() : json && JSON.stringify(json);
  try {
    const response = await post({
      url,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        accept: 'application/json',
        'user-agent': `tau/${version}`,
        ...(body === undefined ? {} : { 'content-type': fields ? FORM : 'application/json' }),
        ...headers,
      },
      body: body ?? '',
      connectMs: ISSUER_TIMEOUT_MS,
      // A refresh token that is sent twice may end the sign-in.
      connection: 'new',
      signal: AbortSignal.any([signal, timeout]),
    });
    return { status: response.statusCode ?? 0, body: parseBody(await readAll(await decodedBody(response))) };
  } catch (error) {
    signal.throwIfAborted();
    if (timeout.aborted) throw new IssuerError(`${host} did not respond within ${ISSUER_TIMEOUT_MS} ms`);
    throw new IssuerError(`${host} cannot be reached: ${messageOf(error)}`);
  }
}

const FORM = 'application/x-www-form-urlencoded';

/** Sends a request and returns the body of a successful response. */
export async function requestFromIssuer(request: IssuerRequest): Promise<JsonObject> {
  const response = await requestIssuer(request);
  if (response.status >= 200 && response.status < 300) return response.body;
  throw issuerError(request, response);
}

/** The error that a response reports. Its message contains no secret of the request, and is short. */
export function issuerError(request: IssuerRequest, { status, body }: IssuerResponse): IssuerError {
  const code = errorCode(body);
  const detail = errorDetail(body);
  const whole = [code, detail === code ? '' : detail].filter(Boolean).join(': ');
  const reason = redact(whole, sentValues(request)).replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARACTERS);
  return new IssuerError(`${new URL(request.url).host} responded ${status}${reason ? ` (${reason})` : ''}`, {
    isPermanent: code !== undefined && PERMANENT_CODES.has(code),
  });
}

/** The texts in a request, except for the public kind of grant, whose name is a part of error codes. */
function sentValues({ fields, json, headers }: IssuerRequest): string[] {
  const { grant_type: _public, ...secret } = fields ?? {};
  return textsIn([secret, json, headers]);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The error code of OAuth, or of an error object. */
export function errorCode({ error, code }: JsonObject): string | undefined {
  const found = isObject(error) ? (error['code'] ?? error['type']) : (error ?? code);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

function errorDetail(body: JsonObject): string {
  const nested = isObject(body['error']) ? body['error']['message'] : undefined;
  const found = [body['error_description'], nested, body['detail'], body['message']].find(
    (text) => typeof text === 'string' && text !== '',
  );
  return (found as string | undefined) ?? '';
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of stream) {
    size += piece.length;
    if (size > MAX_ISSUER_BYTES) throw new Error(`the response is larger than ${MAX_ISSUER_BYTES} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

/** Other content than a JSON object, such as the page of a proxy, is an empty object. */
function parseBody(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** A non-empty text of a response; throws if it is missing. */
export function textField(body: JsonObject, name: string, host: string): string {
  const value = body[name];
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new IssuerError(`${host} responded without ${name}`);
}

/** A positive number of a response, which some issuers send as text. */
export function numberField(body: JsonObject, name: string): number | undefined {
  const value = typeof body[name] === 'string' ? Number(body[name]) : body[name];
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined;
}
