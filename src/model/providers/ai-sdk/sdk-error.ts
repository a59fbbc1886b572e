import { messageOf } from '../../../protocol/errors.ts';
import { classifyFailure } from '../../classify-failure.ts';
import { errorText } from '../../http/error-response.ts';
import { retryAfter } from '../../http/response.ts';
import { ModelFailure } from '../../request.ts';
import { recordOf } from './language-model.ts';

/** Makes a failure of a package's error, thrown or in mid-stream. */
export function sdkFailure(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const { statusCode: status, responseHeaders, responseBody, name } = recordOf(error);
  const networkProblem = networkError(error);
  if (networkProblem !== undefined) return new ModelFailure('connection_lost', `Connection error: ${networkProblem}`);
  const text = truncated(bodyErrorText(responseBody) ?? errorText(error) ?? describeError(error));
  if (typeof status === 'number') {
    const retryAfterMs = retryAfter(recordOf(responseHeaders) as Record<string, string>);
    const details = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    return classifyFailure({ message: `${status} ${text}`, ...details });
  }
  if (name === 'AI_LoadAPIKeyError') return new ModelFailure('auth_failed', text);
  if (isTruncated(text)) return new ModelFailure('connection_lost', 'The stream ended before the answer did');
  return classifyFailure({ message: text });
}

// Some packages detect a truncated stream themselves.
const isTruncated = (text: string) => /stream (?:ended|closed|finished) (?:without|before)/i.test(text);

// The network error among the causes, as Node and its fetch name it.
function networkError(error: unknown): string | undefined {
  const { code, cause, message } = recordOf(error);
  if (typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code)) {
    return String(message).includes(code) ? String(message) : `${message} (${code})`;
  }
  if (cause !== undefined && cause !== error) return networkError(cause);
  return error instanceof TypeError && /^(?:fetch failed|terminated)$/.test(error.message) ? error.message : undefined;
}

function bodyErrorText(body: unknown): string | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    return errorText(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function describeError(error: unknown): string {
  if (error instanceof Error) return messageOf(error);
  return (typeof error === 'object' ? JSON.stringify(error) : String(error)) ?? 'Error';
}

const truncated = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
