import { check, type Schema } from '../../protocol/check.ts';
import { isoTime } from './iso-time.ts';
import { type Scope, scopes } from './scopes.ts';

/** What is known of a token. The token itself is not. */
export interface TokenRecord {
  /** Tells tokens apart; no secret. */
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** The folders that it opens; undefined: all. */
  readonly allowedPaths: readonly string[] | undefined;
  /** This and the other times are ISO dates. */
  readonly createdAt: string | undefined;
  readonly expiresAt: string | undefined;
  readonly lastUsedAt: string | undefined;
}

const text: Schema = { type: 'string', minLength: 1 };

/** The fields that files have in common. */
const fields: Readonly<Record<string, Schema>> = {
  name: text,
  scopes: { type: 'array', items: { enum: scopes } },
  allowedPaths: { type: 'array', items: text },
  createdAt: text,
  expiresAt: text,
};

/** What fields an entry of a file must have, and which it may have too. */
export interface EntryShape {
  readonly required: readonly string[];
  readonly more?: Readonly<Record<string, Schema>>;
}

/**
 * Says what is wrong with an entry of a file, or nothing.
 *
 * Names no field but those that are known: another one may be a token that stands in the wrong place. It is refused, for
 * it may be a limit that is misspelt.
 */
export function entryProblem(value: unknown, { required, more = {} }: EntryShape): string | undefined {
  const properties = { ...fields, ...more };
  const problem = check({ type: 'object', required, properties }, value);
  if (problem !== undefined) return problem;
  const entry = value as Readonly<Record<string, unknown>>;
  if (Object.keys(entry).some((name) => !Object.hasOwn(properties, name))) {
    return `a field is unknown: there is ${Object.keys(properties).join(', ')}`;
  }
  const times = Object.keys(properties).filter((name) => name.endsWith('At') && entry[name] !== undefined);
  const wrong = times.find((name) => isoTime(String(entry[name])) === undefined);
  return wrong && `${wrong} must be a date such as 2030-01-31T12:00:00Z`;
}
