import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Refusal } from '../../../protocol/errors.ts';
import { ExportedPages, PageDownloads } from './export-transfer.ts';
import type { ChannelMessage } from './node-channel.ts';

const newFolder = () => mkdtempSync(join(tmpdir(), 'tau-export-'));

const PAGE = `<!doctype html>${'ü'.repeat(400_000)}`;

/** A page of one node, with the downloads of another that fetch it. */
function transfer() {
  const folder = newFolder();
  const pages = new ExportedPages(() => join(folder, 'page.html'));
  writeFileSync(pages.create(1), PAGE);
  const sent: ChannelMessage[] = [];
  const downloads = new PageDownloads((message) => void sent.push(message));
  /** Answers the last request for a piece. */
  const answer = async () => {
    const { r, from } = sent.at(-1) as ChannelMessage;
    const data = Buffer.from(await pages.read(Number(r), Number(from))).toString('base64');
    downloads.receive({ k: 'piece', r, data });
    return data;
  };
  return { folder, pages, sent, downloads, answer };
}

it('[W162] a page is copied a piece at a time', async () => {
  const { folder, pages, sent, downloads, answer } = transfer();
  const target = join(newFolder(), 'copy.html');
  const saved = downloads.save(1, target);
  for (let requests = 1; ; requests++) {
    await expect.poll(() => sent.length).toBe(requests);
    if ((await answer()) === '') break;
  }
  await saved;

  expect(readFileSync(target, 'utf8')).toBe(PAGE);
  expect(sent.map(({ k }) => k)).toEqual(['pull', 'pull', 'pull', 'pull', 'pull', 'discard']);
  await pages.remove(1);
  expect(readdirSync(folder)).toEqual([]);
});

it('[W162] a copy that is cancelled between two pieces leaves no file and requests nothing more', async () => {
  const { sent, downloads, answer } = transfer();
  const folder = newFolder();
  const saved = downloads.save(1, join(folder, 'copy.html'));
  await expect.poll(() => sent.length).toBe(1);
  await answer();
  await expect.poll(() => sent.length).toBe(2);

  downloads.cancel(new Refusal('internal', 'It is gone'));

  await expect(saved).rejects.toThrow('It is gone');
  expect(readdirSync(folder)).toEqual([]);
  await expect(downloads.save(2, join(folder, 'other.html'))).rejects.toThrow('It is gone');
  expect(sent.filter(({ k }) => k === 'pull')).toHaveLength(2);
});

it('a page that cannot be removed does not stop the node', async () => {
  const folder = newFolder();
  const pages = new ExportedPages(() => folder);
  pages.create(1);

  await pages.removeAll();

  expect(readdirSync(folder)).toEqual([]);
});
