import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openLog } from '../system/log.ts';
import { newFolder } from './http/testing/test-server.ts';
import { ServerLog, sanitize } from './server-log.ts';

it.each([
  ['/session?token=hunter2&session=x', '/session?token=…&session=x'],
  ['https://tau.example/#code=hunter2', 'https://tau.example/#code=…'],
  ['ticket%3Dhunter2', 'ticket%3D…'],
  ['Authorization: Bearer hunter2', 'Authorization: …'],
  ['sent "Bearer hunter2", then left', 'sent "Bearer …", then left'],
  ['Cookie: tau_4170=hunter2; other=hunter3', 'Cookie: …'],
  ['{"token": "hunter2", "name": "x"}', '{"token": …", "name": "x"}'],
  ['api_key=hunter2', 'api_key=…'],
])('[W49] secrets in recognisable places are not logged: %s', (text, written) => {
  expect(sanitize(text)).toBe(written);
});

it('[W49] any event is logged on one line without control characters', () => {
  const path = join(newFolder(), 'log');
  const log = new ServerLog(openLog({ level: 'info', file: path }));

  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const before = readFileSync(path, 'utf8').length;
      log.event('info', 'happened', { value });
      const line = readFileSync(path, 'utf8').slice(before);
      expect(line).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+\n$/u);
    }),
  );
});

it('[W49] words as long as tokens are removed from paths, except session ids', () => {
  const path = join(newFolder(), 'log');
  const log = new ServerLog(openLog({ level: 'info', file: path }));
  const id = '0192f0c1-2b3c-7d4e-8f50-123456789abc';
  const access = { method: 'GET', status: 404, ms: 1, address: '::1', grant: undefined };

  log.access({ ...access, path: `/a/${'x'.repeat(43)}/b` });
  log.access({ ...access, path: `/a/${id}` });

  expect(readFileSync(path, 'utf8').match(/path=.*/g)).toEqual(['path=/a/…/b', `path=/a/${id}`]);
});
