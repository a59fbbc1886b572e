import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { messageOf } from '../../protocol/errors.ts';
import { isObject } from '../../protocol/json.ts';

// Limit of an error message from a server.
const MAX_MCP_ERROR_CHARACTERS = 1000;

/** True if the server responded with an error. */
export const isServerError = (error: unknown) => error instanceof ProtocolError || error instanceof SdkHttpError;

/** The HTTP status with which the server refused a request. */
export const statusOf = (error: unknown) => (error instanceof SdkHttpError ? error.status : undefined);

/** A readable sentence about a failure; the words of the server if it sent any. */
export function describeFailure(error: unknown): string {
  return describe(error).slice(0, MAX_MCP_ERROR_CHARACTERS);
}

function describe(error: unknown): string {
  if (error instanceof ProtocolError) return error.message;
  if (error instanceof SdkHttpError) return describeStatus(error);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return 'closed the connection';
  const { name, cause } = error as { name?: unknown; cause?: unknown };
  if (isUnreadable(error)) return 'gave an answer that cannot be understood';
  // The library reports a lost connection as a failed negotiation.
  if (error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed && cause instanceof Error)
    return describe(cause);
  if (String(name).endsWith('ZodError') || name === 'SyntaxError') return 'gave an answer that cannot be understood';
  return messageOf(error).replace(/ \(redirectPolicy: .*\)$/, '');
}

const isUnreadable = (error: unknown) =>
  error instanceof SdkError &&
  [SdkErrorCode.InvalidResult, SdkErrorCode.UnsupportedResultType].includes(error.code as SdkErrorCode);

function describeStatus(error: SdkHttpError): string {
  const { text } = error.data as { text?: unknown };
  const body = typeof text === 'string' && text !== '' ? text : withoutPrefix(error.message);
  return rpcMessageIn(body) ?? `answered with status ${error.status}: ${body}`;
}

const withoutPrefix = (message: string) =>
  message.replace(/^Error POSTing to endpoint: /, '').replace(/ \(redirectPolicy: .*\)$/, '');

// The message of a JSON-RPC error; undefined if the text holds none.
function rpcMessageIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text.replace(/^\uFEFF/, '')) as { error?: unknown };
    return isObject(error) && typeof error['message'] === 'string' ? error['message'] : undefined;
  } catch {
    return undefined;
  }
}
