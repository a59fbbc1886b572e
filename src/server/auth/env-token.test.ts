import { expect, it } from 'vitest';
import { takeEnvToken } from './env-token.ts';

it('[A6] the token is removed from the environment when it is read', () => {
  const env = { PI_AUTH_TOKEN: 'abc', HOME: '/root' };

  expect([takeEnvToken(env), takeEnvToken(env)]).toEqual(['abc', undefined]);
  expect(env).toEqual({ HOME: '/root' });
});

it('an empty token counts as none', () => {
  expect(takeEnvToken({ PI_AUTH_TOKEN: '' })).toBeUndefined();
});
