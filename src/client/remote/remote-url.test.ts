import { expect, it } from 'vitest';
import { serverUrl, sessionUrl } from './remote-url.ts';

const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams);

it.each([
  ['ws://host:1', 'ws://host:1/session'],
  ['https://host/', 'wss://host/session'],
  ['http://host/base/session?token=t#part', 'ws://host/base/session?token=t'],
  ['ws+unix:/run/tau.sock:/session', 'ws+unix:/run/tau.sock:/session'],
])('the address %s becomes %s', (address, url) => {
  expect(serverUrl(address).href).toBe(url);
});

it.each(['host:1', 'file:///etc', '?token=secret', 'ftp://host?token=secret'])(
  'an invalid server address is rejected without repeating it: %s',
  (address) => {
    expect(() => serverUrl(address)).toThrow('The address of a server begins with ws:// or wss://');
  },
);

it('only defined parameters stand in the URL', () => {
  const server = serverUrl('ws://host/session?token=t&session=old&cwd=%2Fa&after=3&epoch=x&mine=1');

  expect(queryOf(sessionUrl(server, {}))).toEqual({ token: 't', mine: '1', stream: 'delta', legacyNames: '0' });
  expect(
    queryOf(
      sessionUrl(server, { token: 'u', session: 's', tail: 5, entries: true, ui: ['a', 'b'], epoch: 'e', after: 7 }),
    ),
  ).toEqual({
    token: 'u',
    mine: '1',
    session: 's',
    tail: '5',
    entries: '1',
    ui: 'a,b',
    epoch: 'e',
    after: '7',
    stream: 'delta',
    legacyNames: '0',
  });
});
