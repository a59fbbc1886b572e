import { type Grant, scopes } from './grant.ts';

/** The user who started the server: the printed login link and the Unix socket have this grant with all rights. */
export const owner: Grant = {
  id: 'owner',
  name: 'owner',
  scopes: new Set(scopes),
  allowedPaths: undefined,
  expiresAt: undefined,
};
