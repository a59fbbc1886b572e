import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listFolders } from '../../folders.ts';
import { bearer, newFolder, startServer } from '../testing/test-server.ts';

function servedFolders() {
  const root = newFolder();
  for (const name of ['one', '.two']) mkdirSync(join(root, name));
  return {
    root,
    server: startServer({ services: { listFolders: (grant, query) => listFolders(query, grant, root) } }),
  };
}

it('[W95] a token with the scope prompt may list folders', async () => {
  const { root, server } = servedFolders();
  const { get } = await server;

  const here = await get('/api/folders', bearer('bob'));
  const all = await get(`/api/folders?hidden=1&path=${encodeURIComponent(root)}`, bearer('bob'));

  expect(JSON.parse(here.body)).toMatchObject({ path: root, folders: [{ name: 'one', path: join(root, 'one') }] });
  expect(JSON.parse(all.body).folders).toHaveLength(2);
});

it('[W95] a token without the scope prompt gets 403, and a missing folder gets 404', async () => {
  const { root, server } = servedFolders();
  const { get } = await server;

  expect((await get('/api/folders')).status).toBe(401);
  expect((await get('/api/folders', bearer('eve'))).status).toBe(403);
  expect(await get(`/api/folders?path=${encodeURIComponent(join(root, 'none'))}`, bearer('bob'))).toMatchObject({
    status: 404,
    body: expect.stringContaining('There is no such folder'),
  });
  expect((await get('/api/folders', { method: 'POST', ...bearer('bob') })).status).toBe(405);
});
