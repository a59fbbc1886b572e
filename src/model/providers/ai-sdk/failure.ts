import { messageOf } from '../../../protocol/errors.ts';
import { failureOf } from '../../failure.ts';
import { errorText } from '../../http/failure.ts';
import { retryAfter } from '../../http/retry-after.ts';
import { ModelFailure } from '../../request.ts';
import { recordOf } from './record.ts';

/** What an error of a package comes to, thrown or told in mid-stream. */
export function failureFrom(error: unknown): ModelFailure {
  if (error instanceof ModelFailure) return error;
  const { statusCode: status, responseHeaders, responseBody, name } = recordOf(error);
  const broken = networkError(error);
  if (broken !== undefined) return new ModelFailure('connection_lost', `Connection error: ${broken}`);
  const said = shortened(wordsOf(responseBody) ?? errorText(error) ?? plainWords(error));
  if (typeof status === 'number') {
    const retryAfterMs = retryAfter(recordOf(responseHeaders) as Record<string, string>);
    const details = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    return failureOf({ message: `${status} ${said}`, ...details });
  }
  if (name === 'AI_LoadAPIKeyError') return new ModelFailure('auth_failed', said);
  if (isCutOff(said)) return new ModelFailure('connection_lost', 'The stream ended before the answer did');
  return failureOf({ message: said });
}

/** Some packages look for the end themselves. */
const isCutOff = (said: string) => /stream (?:ended|closed|finished) (?:without|before)/i.test(said);

/** The failure of the network that it goes back to, if it does, as Node and its fetch name them. */
function networkError(error: unknown): string | undefined {
  const { code, cause, message } = recordOf(error);
  if (typeof code === 'string' && /^(?:E[A-Z]+|UND_ERR_\w+)$/.test(code)) {
    return String(message).includes(code) ? String(message) : `${message} (${code})`;
  }
  if (cause !== undefined && cause !== error) return networkError(cause);
  return error instanceof TypeError && /^(?:fetch failed|terminated)$/.test(error.message) ? error.message : undefined;
}

function wordsOf(body: unknown): string | undefined {
  if (typeof body !== 'string') return undefined;
  try {
    return errorText(JSON.parse(body));
  } catch {
    return undefined;
  }
}

function plainWords(error: unknown): string {
  if (error instanceof Error) return messageOf(error);
  return (typeof error === 'object' ? JSON.stringify(error) : String(error)) ?? 'Error';
}

const shortened = (text: string) => (text.length > 500 ? `${text.slice(0, 500)}…` : text);
