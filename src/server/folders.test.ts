import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Grant } from './auth/grant.ts';
import { listFolders } from './folders.ts';

const owner: Grant = {
  id: 'owner',
  name: 'owner',
  scopes: new Set(['prompt']),
  allowedPaths: undefined,
  limit: undefined,
  expiresAt: undefined,
};

/** A folder with subfolders, links, a file and hidden folders, beside a folder that is not allowed. */
function newFolders() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tau-folders-')));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const mine = join(root, 'mine');
  for (const name of ['mine/part 10', 'mine/part 9', 'mine/.hidden', 'mine/Part 1/inner', 'other/secret']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  writeFileSync(join(mine, 'file'), '');
  symlinkSync(join(root, 'other'), join(mine, 'way out'));
  symlinkSync(join(mine, 'part 9'), join(mine, 'way in'));
  symlinkSync(join(mine, 'nothing'), join(mine, 'way to nowhere'));
  symlinkSync(join(mine, 'file'), join(mine, 'way to a file'));
  const limited: Grant = { ...owner, allowedPaths: [mine] };
  return { root, mine, limited };
}

const names = ({ folders }: { folders: readonly { name: string }[] }) => folders.map(({ name }) => name);

it('[W95] a listing is sorted naturally by name and includes links to folders', async () => {
  const { root, mine } = newFolders();

  const listing = await listFolders({ path: mine, hidden: false }, owner, '/');

  expect(listing).toMatchObject({ path: mine, parent: root, hasMore: false });
  expect(names(listing)).toEqual(['Part 1', 'part 9', 'part 10', 'way in', 'way out']);
  expect(listing.folders[0]?.path).toBe(join(mine, 'Part 1'));
  expect(names(await listFolders({ path: mine, hidden: true }, owner, '/'))).toContain('.hidden');
});

it('[W95] without a path the listing is of the default cwd, or of the first allowed folder', async () => {
  const { root, mine, limited } = newFolders();

  const listings = [
    await listFolders({ hidden: false }, owner, root),
    await listFolders({ hidden: false }, limited, root),
    await listFolders({ hidden: false }, limited, join(mine, 'part 9')),
    await listFolders({ path: 'part 10', hidden: false }, limited, mine),
  ];

  expect(listings.map(({ path }) => path)).toEqual([root, mine, join(mine, 'part 9'), join(mine, 'part 10')]);
  await expect(listFolders({ hidden: false }, { ...owner, allowedPaths: [] }, root)).rejects.toMatchObject({
    code: 'permission_denied',
  });
});

it("[W95] a tilde is the home of the server's user, and the root has no parent", async () => {
  expect((await listFolders({ path: '~', hidden: false }, owner, '/')).path).toBe(homedir());
  expect(await listFolders({ path: '/', hidden: false }, owner, '/')).not.toHaveProperty('parent');
});

it('[W95] outside of the allowed paths a listing reveals nothing, not even whether the path exists', async () => {
  const { root, mine, limited } = newFolders();
  const inside = await listFolders({ path: mine, hidden: false }, limited, '/');
  const outside = ['other', 'none', '../..', 'mine/way out', 'mine/way out/secret', 'mine/../other', 'mine\0'];

  for (const path of outside.map((name) => join(root, '/') + name)) {
    await expect(listFolders({ path, hidden: false }, limited, '/')).rejects.toMatchObject({
      code: 'permission_denied',
      message: `Permission denied: ${path}`,
    });
  }
  expect(inside).not.toHaveProperty('parent');
  expect(names(inside)).toEqual(['Part 1', 'part 9', 'part 10', 'way in']);
});

it('[W95] a missing folder or a file is reported as missing, an unreadable folder as unreadable', async () => {
  const { mine, limited } = newFolders();
  for (const name of ['none', 'file']) {
    await expect(listFolders({ path: join(mine, name), hidden: false }, limited, '/')).rejects.toMatchObject({
      code: 'not_found',
      message: `There is no such folder: ${join(mine, name)}`,
    });
  }
  const closed = join(mine, 'part 9');
  chmodSync(closed, 0o000);
  onTestFinished(() => chmodSync(closed, 0o700));

  const listing = listFolders({ path: closed, hidden: false }, owner, '/').catch((error: Error) => error.message);

  // Root can read everything.
  if (process.getuid?.() === 0) expect(await listing).toMatchObject({ folders: [] });
  else expect(await listing).toBe(`This folder cannot be read: ${closed}`);
});

it('[W95] a listing is limited to the first thousand folders', async () => {
  const { mine } = newFolders();
  const many = join(mine, 'part 9');
  for (let number = 0; number < 1001; number++) mkdirSync(join(many, String(number)));

  const listing = await listFolders({ path: many, hidden: false }, owner, '/');

  expect([listing.folders.length, listing.hasMore, listing.folders.at(-1)?.name]).toEqual([1000, true, '999']);
});
