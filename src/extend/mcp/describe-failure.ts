import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { messageOf } from '../../protocol/errors.ts';
import { isObject, type JsonObject } from '../../protocol/json.ts';

// Limit of an error message from a server.
const MAX_MCP_ERROR_CHARACTERS = 1000;

/** True if the server responded with an error. */
export const isServerError = (error: unknown) => error instanceof ProtocolError || error instanceof SdkHttpError;

/** The HTTP status with which the server refused a request. */
export const statusOf = (error: unknown) => (error instanceof SdkHttpError ? error.status : undefined);

/** The code of a JSON-RPC error, also in the body of a refused HTTP request. */
export function rpcCodeOf(error: unknown): unknown {
  if (error instanceof ProtocolError) return error.code;
  return error instanceof SdkHttpError ? rpcErrorIn(bodyOf(error))?.['code'] : undefined;
}

/** Returns one sentence about a failure: the server's own message if there is one. */
export function describeFailure(error: unknown): string {
  return describe(error).slice(0, MAX_MCP_ERROR_CHARACTERS);
}

function describe(error: unknown): string {
  if (error instanceof ProtocolError) return error.message;
  if (error instanceof SdkHttpError) return describeStatus(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'closed the connection';
  const { name, cause } = error as { name?: unknown; cause?: unknown };
  if (isUnreadable(error)) return 'sent an invalid response';
  // The library reports a lost connection as a failed negotiation.
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && cause instanceof Error)
    return describe(cause);
  if (String(name).endsWith('ZodError') || name === 'SyntaxError') return 'sent an invalid response';
  return messageOf(error).replace(/ \(redirectPolicy: .*\)$/, '');
}

const isUnreadable = (error: unknown) =>
  error instanceof SdkError &&
  [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType].includes(error.code as SdkErrorCode);

function describeStatus(error: SdkHttpError): string {
  const body = bodyOf(error);
  const message = rpcErrorIn(body)?.['message'];
  return typeof message === 'string' ? message : `responded with status ${error.status}: ${body}`;
}

function bodyOf(error: SdkHttpError): string {
  const { text } = error.data as { text?: unknown };
  return typeof text === 'string' && text !== '' ? text : withoutPrefix(error.message);
}

const withoutPrefix = (message: string) =>
  message.replace(/^Error POSTing to endpoint: /, '').replace(/ \(redirectPolicy: .*\)$/, '');

// The JSON-RPC error in a text, if it contains one.
function rpcErrorIn(text: string): JsonObject | undefined {
  try {
    const { error } = JSON.parse(text.replace(/^\uFEFF/, '')) as { error?: unknown };
    return isObject(error) ? error : undefined;
  } catch {
    return undefined;
  }
}
