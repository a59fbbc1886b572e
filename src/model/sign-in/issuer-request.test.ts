import { expect, it } from 'vitest';
import { issuerError } from './issuer-request.ts';

const { signal } = new AbortController();
const url = 'https://issuer.example/token';

it('an error contains no value of the request, neither in its code nor in its text', () => {
  const fields = { grant_type: 'refresh_token', refresh_token: 'form-secret' };
  const json = { code: 'json-secret', more: [{ verifier: 'deep-secret' }] };
  const headers = { authorization: 'Bearer header-secret' };
  const body = { error: 'bad form-secret json-secret', message: 'deep-secret\nheader-secret' };

  const { message } = issuerError({ url, fields, json, headers, signal }, { status: 400, body });

  expect(message).toBe('issuer.example responded 400 (bad … …: … …)');
});

it('an error keeps a code that contains the kind of grant, and is limited', () => {
  const fields = { grant_type: 'refresh_token', refresh_token: 'form-secret' };
  const respond = (error: string) => issuerError({ url, fields, signal }, { status: 400, body: { error } });

  expect(respond('refresh_token_reused')).toMatchObject({
    message: 'issuer.example responded 400 (refresh_token_reused)',
    isPermanent: true,
  });
  expect(respond('x'.repeat(10_000)).message.length).toBeLessThan(400);
});
