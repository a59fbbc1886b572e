import type { IncomingMessage } from 'node:http';
import { redact } from '../keys/redact.ts';
import type { WireObserver, WireResponse } from '../request.ts';

/** The headers after `onHeaders`: a changed value replaces the old one, null or a missing name removes it. */
export async function observedHeaders(
  headers: Readonly<Record<string, string>>,
  { onHeaders }: WireObserver = {},
): Promise<Record<string, string>> {
  if (!onHeaders) return { ...headers };
  const changed: Record<string, unknown> = { ...headers };
  await onHeaders(changed as Record<string, string | null>);
  const kept = Object.entries(headers).filter(([name]) => name in changed);
  const result = new Map(kept);
  for (const [name, value] of Object.entries(changed)) {
    const key = name.toLowerCase();
    if (value === null) result.delete(key);
    else if (value !== undefined && value !== headers[name]) result.set(key, String(value));
  }
  return Object.fromEntries(result);
}

const HIDDEN_HEADERS: ReadonlySet<string> = new Set(['set-cookie', 'authorization', 'proxy-authorization']);

/** The response without cookies and without the secrets of the request. */
export function redactedResponse(response: IncomingMessage, secrets: readonly string[]): WireResponse {
  const { statusCode: status = 0, headers } = response;
  const shown = Object.entries(headers).map(([name, value]) => [
    name,
    HIDDEN_HEADERS.has(name) ? '…' : redact([value ?? ''].flat().join(', '), secrets),
  ]);
  return { status, headers: Object.fromEntries(shown) };
}

/** The parsed object of an event without the secrets of the request; undefined if the data is no JSON object. */
export function redactedEvent(data: string, secrets: readonly string[]): object | undefined {
  try {
    const value: unknown = JSON.parse(redact(data, secrets));
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
