import { createHash, randomBytes } from 'node:crypto';
import { check, type Schema } from '../../protocol/check.ts';
import { choices } from '../../protocol/generated/choices.ts';
import type { Scope } from '../../protocol/generated/command-rows.ts';
import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { isoTime } from './iso-time.ts';

/** A stored token, without the token itself. */
export interface TokenRecord {
  /** A public id. */
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly scopes: readonly Scope[];
  /** The folders that it may open; undefined: all. */
  readonly allowedPaths: readonly string[] | undefined;
  /** The loosest approval mode of its runs; undefined: no limit. */
  readonly limit: ApprovalMode | undefined;
  /** This and the other times are ISO dates. */
  readonly createdAt: string | undefined;
  readonly expiresAt: string | undefined;
  readonly lastUsedAt: string | undefined;
  /** Only known of a token in a plain file. */
  readonly isGuessable?: boolean;
}

const text: Schema = { type: 'string', minLength: 1 };

/** The scopes of a grant. None includes another. */
export const scopes = ['view', 'prompt', 'bash', 'admin'] as const satisfies readonly Scope[];

export type { Scope };

/** Fields of both token files. */
const fields: Readonly<Record<string, Schema>> = {
  name: text,
  scopes: { type: 'array', items: { enum: scopes } },
  allowedPaths: { type: 'array', items: text },
  limit: { enum: choices.ApprovalMode },
  createdAt: text,
  expiresAt: text,
};

/** Required and additional fields of an entry. */
export interface EntryShape {
  readonly required: readonly string[];
  readonly more?: Readonly<Record<string, Schema>>;
}

/**
 * The problem of an entry; undefined if it is valid.
 *
 * Names only known fields: an unknown one may be a misplaced token. It is rejected, because it may be a misspelt limit.
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

const SECRET_BYTES = 32;

/** 256 random bits in characters that are safe in a URL and a cookie. */
export const newSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

const MIN_TOKEN_CHARACTERS = 16;
const MIN_DISTINCT_CHARACTERS = 6;
// The token in the example of the remote session server guide.
const EXAMPLE_TOKEN = 'your-secret-token';

/** Whether a token that a user chose is too short, too uniform or well known. */
export const isGuessable = (token: string): boolean =>
  token.length < MIN_TOKEN_CHARACTERS || new Set(token).size < MIN_DISTINCT_CHARACTERS || token === EXAMPLE_TOKEN;

/** Follows the name of such a token in a warning. */
export const GUESSABLE = `can be guessed: use a random one of at least ${MIN_TOKEN_CHARACTERS} characters, as tau token create prints`;

/** A SHA-256 in hex. */
export const SHA256 = /^[0-9a-f]{64}$/;

/** The stored form of a secret: its SHA-256 in hex. */
export const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
