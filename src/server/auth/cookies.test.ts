import { expect, it } from 'vitest';
import { cookieNameOf, cookieValues, setCookie } from './cookies.ts';

const options = { name: () => cookieNameOf(4170), basePath: '', secure: false };

it('a cookie is limited to this server and hidden from scripts', () => {
  expect(setCookie(options, { value: 'abc', maxAgeMs: 5999 })).toBe(
    'tau_4170=abc; Path=/; Max-Age=5; HttpOnly; SameSite=Strict',
  );
  expect(setCookie({ name: () => cookieNameOf(1), basePath: '/tau', secure: true }, { value: '', maxAgeMs: 0 })).toBe(
    'tau_1=; Path=/tau/; Max-Age=0; HttpOnly; SameSite=Strict; Secure',
  );
});

it.each([
  ['tau_4170=a', ['a']],
  ['x=1; tau_4170=a;tau_4170=b', ['a', 'b']],
  ['tau_41700=a; xtau_4170=b; tau_4170', []],
  ['tau_4170=; tau_4170=a=b', ['a=b']],
  ['', []],
  [Array<string>(100).fill('tau_4170=a').join(';'), ['a', 'a', 'a', 'a']],
])('of %j only the cookies of this server are read', (header, values) => {
  expect(cookieValues(header, options)).toEqual(values);
});
