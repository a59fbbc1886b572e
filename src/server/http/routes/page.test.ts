import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { readPageFiles } from '../page-files.ts';
import { openSocket, readToEnd } from '../testing/raw-clients.ts';
import { newFolder, startServer } from '../testing/test-server.ts';
import { acceptsGzip } from './page.ts';

/** A page folder beside a secret file. */
function newPage(): string {
  const root = newFolder();
  const folder = join(root, 'page');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  writeFileSync(join(root, 'secret.txt'), 'secret');
  symlinkSync(join(root, 'secret.txt'), join(folder, 'link.txt'));
  symlinkSync(root, join(folder, 'up'));
  writeFileSync(join(folder, 'index.html'), '<!doctype html>Hello');
  writeFileSync(join(folder, 'assets/app-ABCD2345.js'), 'let a;');
  writeFileSync(join(folder, 'assets/ein bild.svg'), '<svg/>');
  return folder;
}

const servedPage = () => startServer({ services: { pageFiles: readPageFiles(newPage()) } });

it('[W43] the page is served with its types and cached as its names allow', async () => {
  const { get } = await servedPage();

  const [page, script, image] = [
    await get('/'),
    await get('/assets/app-ABCD2345.js'),
    await get('/assets/ein%20bild.svg'),
  ];

  expect(page).toMatchObject({ status: 200, body: '<!doctype html>Hello' });
  expect(page.headers).toMatchObject({ 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-cache' });
  expect(script.headers).toMatchObject({
    'content-type': 'text/javascript; charset=utf-8',
    'cache-control': 'max-age=31536000, immutable',
  });
  expect(image.headers['content-type']).toBe('image/svg+xml');
  expect((await get('/index.html')).body).toBe(page.body);
});

it('[W43] a matching ETag gets 304', async () => {
  const { get } = await servedPage();
  const { headers } = await get('/');
  const again = (known: string) => get('/', { headers: { 'if-none-match': known } });

  const known = await again(`"other", W/${headers.etag}`);

  expect(known).toMatchObject({ status: 304, body: '' });
  expect(known.headers.etag).toBe(headers.etag);
  expect((await again('"other"')).status).toBe(200);
});

it('[W43] a HEAD returns the length, and other methods than GET are refused', async () => {
  const { get } = await servedPage();

  const head = await get('/', { method: 'HEAD' });
  const post = await get('/', { method: 'POST' });

  expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '20' } });
  expect(post).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } });
});

it.each([
  '/../secret.txt',
  '/..%2fsecret.txt',
  '/%2e%2e/secret.txt',
  '/%2e%2e%2fsecret.txt',
  '/assets/../../secret.txt',
  '/assets/..%2f..%2fsecret.txt',
  '/..%5csecret.txt',
  '/..%252fsecret.txt',
  '//etc/passwd',
  '/%2fetc/passwd',
  '/etc/passwd',
  '/index.html%00',
  '/index.html%00.js',
  '/link.txt',
  '/up/secret.txt',
  '/assets',
  '/assets/',
  '/.',
  '/%c0%ae%c0%ae/secret.txt',
])('[W43] nothing but the page is served: %s', async (path) => {
  const { port } = await servedPage();

  const response = await readToEnd(
    openSocket(port, `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`),
  );

  expect(response).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  expect(response).not.toMatch(/secret|root:/);
});

it('[W43] the protocol schema is served, also without a page', async () => {
  const { get } = await startServer({ services: { pageFiles: readPageFiles(join(newFolder(), 'none')) } });

  const { headers, body } = await get('/schema.json');

  expect(headers['content-type']).toBe('application/json');
  expect(body).toBe(readFileSync(join(import.meta.dirname, '../../../../docs/schema.json'), 'utf8'));
  expect((await get('/')).status).toBe(404);
});

/** The raw response to a request with this Accept-Encoding. */
async function sent(path: string, encoding: string, more = '') {
  const folder = newPage();
  writeFileSync(join(folder, 'long-ABCD2345.js'), 'let a;\n'.repeat(1000));
  writeFileSync(join(folder, 'picture.png'), 'x'.repeat(5000));
  const { port } = await startServer({ services: { pageFiles: readPageFiles(folder) } });
  const head = `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\nAccept-Encoding: ${encoding}\r\n${more}\r\n`;
  const socket = openSocket(port, head).setEncoding('latin1');
  const [headers = '', body = ''] = (await readToEnd(socket)).split(/\r\n\r\n(.*)/s);
  return { headers, body: Buffer.from(body, 'latin1'), etag: /\r\nETag: (.*)\r\n/.exec(headers)?.[1] ?? '' };
}

it('[W96] long texts are compressed on request, and caches can distinguish both forms', async () => {
  const plain = await sent('/long-ABCD2345.js', 'br');
  const small = await sent('/long-ABCD2345.js', 'gzip, deflate');

  expect(small.headers).toMatch(/\r\nContent-Encoding: gzip\r\n/);
  expect(small.headers).toContain(`\r\nContent-Length: ${small.body.length}`);
  expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
  expect(small.body.length).toBeLessThan(plain.body.length / 10);
  expect(plain.headers).not.toContain('Content-Encoding');
  for (const { headers } of [plain, small]) expect(headers).toMatch(/\r\nVary: Accept-Encoding\r\n/);
  expect(small.etag).not.toBe(plain.etag);
});

it('[W96] each form has its own ETag', async () => {
  const small = await sent('/long-ABCD2345.js', 'gzip');
  const plain = await sent('/long-ABCD2345.js', 'identity');
  const fetchWithEtag = (known: string) => sent('/long-ABCD2345.js', 'gzip', `If-None-Match: ${known}\r\n`);

  expect((await fetchWithEtag(small.etag)).headers).toMatch(/^HTTP\/1.1 304/);
  expect((await fetchWithEtag(plain.etag)).headers).toMatch(/^HTTP\/1.1 200/);
});

it.each(['/', '/picture.png', '/assets/app-ABCD2345.js'])(
  '[W96] files that would not shrink are sent uncompressed: %s',
  async (path) => {
    const { headers } = await sent(path, 'gzip');

    expect(headers).not.toMatch(/Content-Encoding|Vary/);
  },
);

it('[W96] the schema is compressed, too', async () => {
  const { headers, body } = await sent('/schema.json', 'gzip');

  expect(headers).toMatch(/\r\nContent-Encoding: gzip\r\n/);
  expect(JSON.parse(gunzipSync(body).toString())).toHaveProperty('$schema');
});

it('a folder over the limits is rejected', () => {
  const folder = newFolder();
  for (let number = 0; number < 501; number++) writeFileSync(join(folder, `${number}.txt`), '');

  expect(() => readPageFiles(folder)).toThrow('holds too much for a page');
});

it.each([
  [undefined, false],
  ['', false],
  ['identity', false],
  ['br, deflate', false],
  ['gzip', true],
  ['GZIP', true],
  ['gzip, deflate, br, zstd', true],
  ['deflate;q=0.5,gzip;q=0.1', true],
  ['gzip;q=0', false],
  ['gzip; q=0.0, *', false],
  ['*', true],
  ['*;q=0', false],
  ['gzip;q=nonsense', false],
  ['gzipped', false],
])('[W96] Accept-Encoding %o accepts gzip: %o', (header, isAccepted) => {
  expect(acceptsGzip(header)).toBe(isAccepted);
});
