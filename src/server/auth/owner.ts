import { type Grant, scopes } from './grant.ts';

/** Whoever started the server: the login link that it prints and its Unix socket are theirs. They may do everything. */
export const owner: Grant = {
  id: 'owner',
  name: 'owner',
  scopes: new Set(scopes),
  allowedPaths: undefined,
  expiresAt: undefined,
};
