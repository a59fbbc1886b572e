import { expect, it, onTestFinished } from 'vitest';
import { proxyFor } from './proxy.ts';

it.each([
  ['http://127.0.0.1:1/', false],
  ['http://localhost:1/', false],
  ['http://169.254.170.2/role', false],
  ['http://metadata.google.internal/token', false],
  ['http://models.invalid/', true],
])('%s is reached through the proxy: %s', (url, isProxied) => {
  const { HTTP_PROXY: before } = process.env;
  onTestFinished(() => {
    if (before === undefined) delete process.env['HTTP_PROXY'];
    else process.env['HTTP_PROXY'] = before;
  });
  process.env['HTTP_PROXY'] = 'http://proxy.invalid:3128';

  expect(proxyFor(url)?.host).toBe(isProxied ? 'proxy.invalid:3128' : undefined);
});
