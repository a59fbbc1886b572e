import { mkdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HEADER, line, writeSession } from '../../testing/sample-session.ts';
import { tempFolder } from '../../testing/temp-folder.ts';
import { lastMessages } from '../entry-reader.ts';
import { SessionList, summaryAt } from './list-sessions.ts';

const MEGABYTE = 1024 * 1024;

/** An assistant message with this usage; `fields` override those of its message. */
const assistant = (id: string, input: number, fields: object = {}) =>
  JSON.stringify({
    type: 'message',
    id,
    parentId: null,
    timestamp: 't',
    message: {
      role: 'assistant',
      content: [],
      usage: { input, output: 1, cacheRead: 0, cacheWrite: 0, cost: { total: 0.5 } },
      stopReason: 'stop',
      ...fields,
    },
  });

const summaryOf = (...lines: string[]) => summaryAt(writeSession(join(tempFolder(), 's.jsonl'), ...lines));

describe('a summary', () => {
  it('counts every message, whatever its length and field order', async () => {
    const image = 'A'.repeat(2 * MEGABYTE);
    const odd = JSON.stringify({ message: { content: 'odd', role: 'user' }, parentId: null, id: 'o', type: 'message' });
    const summary = await summaryOf(
      line('a', null, `begin ${image}`),
      assistant('b', 10, { content: [{ type: 'text', text: image }] }),
      'garbage',
      '',
      odd,
      line('c', 'b', 'x'.repeat(MEGABYTE)),
      '{"type":"custom","customType":"note","data":{"type":"message"},"id":"n","parentId":"c","timestamp":"t"}',
    );

    expect(summary).toMatchObject({ messageCount: 4, tokens: 11, cost: 0.5 });
    expect(summary?.firstMessage).toMatch(/^begin A+…$/);
    expect(summary?.firstMessage).toHaveLength(500);
  });

  it('reads sessions of version 1, whose entries have no id', async () => {
    const path = join(tempFolder(), 'v1.jsonl');
    const entry = { type: 'message', timestamp: 't', message: { role: 'user', content: 'long ago', timestamp: 1 } };
    writeFileSync(path, `{"type":"session","id":"old","timestamp":"t","cwd":"/"}\n${JSON.stringify(entry)}\n`);
    const before = readFileSync(path);

    expect(await summaryAt(path)).toMatchObject({ id: 'old', messageCount: 1, firstMessage: 'long ago' });
    expect(readFileSync(path)).toEqual(before);
  });

  it('[S52] omits totals when usage is unreadable', async () => {
    const summary = await summaryOf(assistant('a', 10), assistant('b', 0, { usage: { input: 'many', cost: null } }));

    expect(summary?.messageCount).toBe(2);
    expect(summary).not.toHaveProperty('tokens');
    expect(summary).not.toHaveProperty('cost');
  });

  it('has the first user text and the last name', async () => {
    const named = (name: string) => JSON.stringify({ type: 'session_info', id: name, parentId: null, name });
    const emoji = '\u{1F680}'.repeat(400);

    expect(await summaryOf(assistant('a', 1), line('b', 'a', ''), line('c', 'b', ' \n now '))).toMatchObject({
      firstMessage: 'now',
      title: 'now',
    });
    expect(await summaryOf(line('a', null), named('one'), named('two'))).toMatchObject({ name: 'two', title: 'two' });
    expect((await summaryOf(line('a', null, emoji)))?.firstMessage).toBe(`${'\u{1F680}'.repeat(249)}…`);
  });

  it('[V53] has a title without the text of attached files, however long', async () => {
    const prompt = `<file name="a.txt">\n${'x'.repeat(2000)}\n</file>\nReview this.`;

    expect(await summaryOf(line('a', null, prompt))).toMatchObject({ title: 'Review this.' });
  });

  it('does not count a partial last line', async () => {
    const path = writeSession(join(tempFolder(), 's.jsonl'), line('a', null));
    writeFileSync(path, readFileSync(path, 'utf8') + line('b', 'a'));

    expect((await summaryAt(path))?.messageCount).toBe(1);
  });
});

describe('a listing', () => {
  it('sees changed and removed files', async () => {
    const root = tempFolder();
    mkdirSync(join(root, 'shop'));
    const path = writeSession(join(root, 'shop', 's.jsonl'), line('a', null));
    const list = new SessionList(root);
    const counts = async () => (await list.list()).sessions.map(({ messageCount }) => messageCount);

    const first = await counts();
    writeSession(path, line('a', null), line('b', 'a'));
    const second = await counts();
    renameSync(path, `${path}.old`);

    expect([first, second, await counts()]).toEqual([[1], [2], []]);
  });

  it('yields to the event loop, and is empty for a missing folder', async () => {
    const root = tempFolder();
    for (let n = 0; n < 2000; n++) writeFileSync(join(root, `${n}.jsonl`), `${HEADER}\n${line('a', null)}\n`);
    let turns = 0;
    const count = () => {
      turns++;
      timer = setImmediate(count);
    };
    let timer = setImmediate(count);

    const { sessions } = await new SessionList(root).list();
    clearImmediate(timer);

    expect(sessions).toHaveLength(2000);
    expect(turns).toBeGreaterThan(3);
    expect(await new SessionList(join(root, 'missing')).list()).toEqual({ sessions: [] });
  });

  it('pages through sessions of the same time', async () => {
    const root = tempFolder();
    for (const name of ['c', 'a', 'b']) utimesSync(writeSession(join(root, `${name}.jsonl`), line('x', null)), 5, 5);
    const list = new SessionList(root);
    const names: string[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await list.list({ limit: 1, cursor });
      names.push(...page.sessions.map(({ path }) => path.slice(-7, -6)));
      cursor = page.nextCursor;
    }

    expect(names).toEqual(['a', 'b', 'c']);
  });
});

describe('the last messages', () => {
  it('are those of the branch at the end of the file', () => {
    const lines = [line('a', null, 'root'), line('b', 'a', 'left'), line('c', 'a', 'right')];
    const path = writeSession(join(tempFolder(), 's.jsonl'), ...lines);
    const texts = (count: number) =>
      lastMessages(path, count).map((message) => JSON.stringify(message).match(/"text":"(\w+)"/)?.[1]);

    expect([texts(9), texts(1)]).toEqual([['root', 'right'], ['right']]);
  });
});
