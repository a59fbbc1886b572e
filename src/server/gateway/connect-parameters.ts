import { Refusal } from '../../protocol/errors.ts';
import type { ToolOutputForm } from '../../protocol/events/tool-output.ts';
import type { SessionSelector } from '../session-catalog.ts';
import type { Cursor } from '../sessions.ts';

/** The query parameters of a socket connection. */
export interface ConnectParameters {
  readonly selector: SessionSelector;
  readonly cursor: Cursor | undefined;
  readonly tail: number | undefined;
  readonly stream: 'cumulative' | 'delta';
  readonly toolOutput: ToolOutputForm;
  readonly legacyNames: boolean;
  readonly entries: boolean;
  readonly ids: boolean;
  readonly ui: readonly string[] | undefined;
}

/** Beyond this, clients omit the tail and get all messages. */
const MAX_TAIL = 100_000;

/** Parses the query of a connection. Rejects an invalid value with its name. */
export function parseConnectParameters(query: URLSearchParams): ConnectParameters {
  const after = wholeNumber(query, 'after');
  const epoch = query.get('epoch') ?? undefined;
  return {
    selector: {
      session: nonEmpty(query, 'session'),
      cwd: nonEmpty(query, 'cwd'),
      newId: nonEmpty(query, 'new'),
    },
    cursor: after === undefined || epoch === undefined ? undefined : { after, epoch },
    tail: wholeNumber(query, 'tail', { min: 1, max: MAX_TAIL }),
    stream: choice(query, 'stream', ['cumulative', 'delta'] as const) ?? 'cumulative',
    toolOutput: choice(query, 'toolOutput', ['cumulative', 'delta', 'both'] as const) ?? 'cumulative',
    legacyNames: flag(query, 'legacyNames') ?? true,
    entries: flag(query, 'entries') ?? false,
    ids: flag(query, 'ids') ?? false,
    ui: query.get('ui')?.split(',').filter(Boolean),
  };
}

/** An empty value counts as absent. */
const nonEmpty = (query: URLSearchParams, name: string) => query.get(name) || undefined;

function wholeNumber(query: URLSearchParams, name: string, { min = 0, max = Number.MAX_SAFE_INTEGER } = {}) {
  const text = nonEmpty(query, name);
  if (text === undefined) return undefined;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalid(`${name} must be a whole number from ${min} to ${max}`);
}

function choice<T extends string>(query: URLSearchParams, name: string, choices: readonly T[]): T | undefined {
  const text = nonEmpty(query, name);
  if (text === undefined) return undefined;
  const found = choices.find((one) => one === text);
  if (found !== undefined) return found;
  throw invalid(`${name} must be ${choices.join(' or ')}`);
}

const flag = (query: URLSearchParams, name: string) => {
  const text = choice(query, name, ['0', '1', 'false', 'true'] as const);
  return text === undefined ? undefined : text === '1' || text === 'true';
};

const invalid = (reason: string) => new Refusal('invalid_params', `Invalid parameters: ${reason}`);
