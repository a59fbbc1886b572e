import { execFileSync } from 'node:child_process';
import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { ExportOffers, MAX_OFFERS, OFFER_MS } from '../export-offers.ts';
import { openSocket, readToEnd } from '../testing/raw-clients.ts';
import { grantOf, newFolder, startServer } from '../testing/test-server.ts';

const ann = grantOf('ann');

function newFile(name = 'session.html', text = '<!doctype html>A session'): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

it('[W47] an export is downloaded once, as an attachment', async () => {
  const { get, exports } = await startServer();
  const code = exports.offer(newFile('Sitzung "ü".html'), ann);

  const [first, second] = [await get(`/api/exports/${code}`), await get(`/api/exports/${code}`)];

  expect(first).toMatchObject({ status: 200, body: '<!doctype html>A session' });
  expect(first.headers).toMatchObject({
    'content-length': '24',
    'content-disposition': `attachment; filename="Sitzung ___.html"; filename*=UTF-8''Sitzung%20%22%C3%BC%22.html`,
    'content-security-policy': "default-src 'none'; sandbox",
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  expect(second).toMatchObject({ status: 404, body: expect.stringContaining('"code":"not_found"') });
});

it('[W47] of two simultaneous downloads one succeeds', async () => {
  const { get, exports } = await startServer();
  const code = exports.offer(newFile(), ann);

  const responses = await Promise.all([get(`/api/exports/${code}`), get(`/api/exports/${code}`)]);

  expect(responses.map(({ status }) => status).sort()).toEqual([200, 404]);
});

it('[W47] a HEAD request does not use up the offer', async () => {
  const { get, exports } = await startServer();
  const code = exports.offer(newFile(), ann);

  const head = await get(`/api/exports/${code}`, { method: 'HEAD' });

  expect(head).toMatchObject({ status: 405, headers: { allow: 'GET' } });
  expect((await get(`/api/exports/${code}`)).status).toBe(200);
});

it('[W47] files of any size are sent completely', async () => {
  const { get, exports } = await startServer();
  const large = 'x'.repeat(3_000_000);

  for (const text of ['', large]) {
    const { body, headers } = await get(`/api/exports/${exports.offer(newFile('a.jsonl', text), ann)}`);
    expect(body === text).toBe(true);
    expect(headers['content-type']).toBe('application/octet-stream');
  }
});

it('[W47] links, folders and missing files are not offered', () => {
  const exports = new ExportOffers(() => true);
  const file = newFile();
  const link = `${file}-link`;
  symlinkSync(file, link);

  for (const path of [link, join(file, '..'), `${file}-none`, '/dev/zero']) {
    expect(() => exports.offer(path, ann)).toThrow('There is no file to fetch');
  }
});

it.each<[string, (path: string) => void]>([
  ['a link', (path) => symlinkSync('/etc/passwd', path)],
  ['another file', (path) => writeFileSync(path, 'other')],
  ['a folder', (path) => mkdirSync(path)],
  ['a FIFO', (path) => execFileSync('mkfifo', [path])],
  ['nothing', () => {}],
])('[W47] a file replaced by %s is not sent', async (_what, replace) => {
  const { get, exports } = await startServer();
  const path = newFile();
  // Keeps the inode in use, so that it is not given to another file.
  linkSync(path, `${path}-kept`);
  const code = exports.offer(path, ann);
  rmSync(path);
  replace(path);

  expect((await get(`/api/exports/${code}`)).status).toBe(404);
});

it('[W47] files outside of the allowed paths are neither offered nor sent', async () => {
  const { get, exports } = await startServer();
  const inside = join(newFolder(), 'inside');
  const outside = newFolder();
  mkdirSync(inside);
  writeFileSync(join(inside, 'a.html'), 'mine');
  writeFileSync(join(outside, 'a.html'), 'not mine');
  const limited = { ...ann, allowedPaths: [inside] };

  const code = exports.offer(join(inside, 'a.html'), limited);
  renameSync(inside, `${inside}-before`);
  symlinkSync(outside, inside);

  expect((await get(`/api/exports/${code}`)).status).toBe(404);
  expect(() => exports.offer(join(outside, 'a.html'), { ...ann, allowedPaths: ['/nowhere'] })).toThrow(
    'There is no file',
  );
});

it('[W47] an offer expires after ten minutes and with its token', async () => {
  let now = 0;
  let isGrantValid = true;
  const exports = new ExportOffers(
    () => isGrantValid,
    () => now,
  );
  const path = newFile();
  const [early, late, revoked] = [exports.offer(path, ann), exports.offer(path, ann), exports.offer(path, ann)];

  now = OFFER_MS - 1;
  const taken = await exports.take(early);
  now = OFFER_MS;
  const tooLate = await exports.take(late);
  now = 0;
  isGrantValid = false;

  expect(taken).toMatchObject({ path, size: 24 });
  expect(tooLate).toBeUndefined();
  expect(await exports.take(revoked)).toBeUndefined();
  await taken?.file.close();
});

it('[A21] the wall clock does not end an offer', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const exports = new ExportOffers(() => true);
  const offers = [exports.offer(newFile(), ann), exports.offer(newFile(), ann)];

  vi.setSystemTime(Date.now() + 2 * OFFER_MS);
  const taken = await exports.take(offers[0] ?? '');
  vi.advanceTimersByTime(OFFER_MS);
  vi.setSystemTime(0);

  expect(taken).toBeDefined();
  expect(await exports.take(offers[1] ?? '')).toBeUndefined();
  await taken?.file.close();
});

it('[W47] beyond the limit the oldest offers are dropped', async () => {
  const exports = new ExportOffers(() => true);
  const path = newFile();
  const codes = Array.from({ length: MAX_OFFERS + 1 }, () => exports.offer(path, ann));

  const taken = await Promise.all([codes[0], codes[1], codes.at(-1)].map((code) => exports.take(code ?? '')));

  expect(taken.map((one) => one !== undefined)).toEqual([false, true, true]);
  expect(new Set(codes).size).toBe(MAX_OFFERS + 1);
  for (const one of taken) await one?.file.close();
});

it('a file truncated during its download ends the connection', async () => {
  const { port, exports } = await startServer();
  const path = newFile('a.jsonl', 'x'.repeat(32 * 1024 * 1024));
  const socket = openSocket(port);
  socket.pause();
  socket.write(`GET /api/exports/${exports.offer(path, ann)} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`);
  await new Promise((resolve) => socket.once('readable', resolve));

  truncateSync(path, 0);

  expect((await readToEnd(socket)).length).toBeLessThan(32 * 1024 * 1024);
});
