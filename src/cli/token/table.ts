import type { TokenRecord } from '../../store/tokens/token-record.ts';
import { ageOf } from '../sessions/table.ts';
import { textTable } from '../text-table.ts';

const HEAD = ['ID', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES', 'LAST USED', 'PATHS'];

/** Formats tokens as a table. */
export const tokenTable = (tokens: readonly TokenRecord[]): string =>
  textTable(
    HEAD,
    tokens.map(({ id, name, scopes, createdAt, expiresAt, lastUsedAt, allowedPaths }) => [
      id,
      name,
      scopes.join(','),
      createdAt === undefined ? '' : ageOf(createdAt),
      expiresAt === undefined ? 'never' : endOf(expiresAt),
      lastUsedAt === undefined ? 'never' : ageOf(lastUsedAt),
      allowedPaths?.join(' ') ?? 'all',
    ]),
  );

/** To the minute, in UTC. */
const endOf = (time: string) =>
  Date.parse(time) > Date.now() ? `${new Date(time).toISOString().slice(0, 16)}Z` : 'expired';
