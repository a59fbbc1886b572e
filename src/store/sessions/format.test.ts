import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HEADER, linesOf, writeSession } from '../testing/sample-session.ts';
import { tempFolder } from '../testing/temp-folder.ts';
import { type EntryDraft, SessionLog, sessionFileName } from './session-log.ts';

describe('the session format', () => {
  it('names files by time and id', () => {
    expect(sessionFileName('b56f0c67', new Date('2026-11-15T06:29:21.770Z'))).toBe(
      '2026-11-15T06-29-21-770Z_b56f0c67.jsonl',
    );
  });

  it('equals that of pi, byte for byte', async () => {
    const log = await SessionLog.create({ directory: tempFolder(), cwd: '/srv/shop' });
    const usage = {
      input: 1,
      output: 2,
      cacheRead: 0,
      cacheWrite: 0,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    };
    const drafts: [EntryDraft, string][] = [
      [
        { type: 'model_change', modelId: 'm1', provider: 'mock' },
        '{"type":"model_change",@,"provider":"mock","modelId":"m1"}',
      ],
      [
        { type: 'thinking_level_change', thinkingLevel: 'medium' },
        '{"type":"thinking_level_change",@,"thinkingLevel":"medium"}',
      ],
      [
        { type: 'message', message: { role: 'user', content: [{ type: 'text', text: 'first' }], timestamp: 5 } },
        '{"type":"message",@,"message":{"role":"user","content":[{"type":"text","text":"first"}],"timestamp":5}}',
      ],
      [
        {
          type: 'message',
          message: { role: 'user', content: 'q', timestamp: 5 },
          queueId: 'q1',
          clientMessageId: 'c1',
        },
        '{"type":"message",@,"clientMessageId":"c1","queueId":"q1","message":{"role":"user","content":"q","timestamp":5}}',
      ],
      [
        {
          type: 'compaction',
          fromHook: false,
          details: { readFiles: [], modifiedFiles: [] },
          tokensBefore: 120010,
          firstKeptEntryId: '589609f7',
          summary: '…',
        },
        '{"type":"compaction",@,"summary":"…","firstKeptEntryId":"589609f7","tokensBefore":120010,"details":{"readFiles":[],"modifiedFiles":[]},"fromHook":false}',
      ],
      [
        { type: 'custom_message', customType: 'ct', content: 'custom text', display: true, details: { a: 1 } },
        '{"type":"custom_message","customType":"ct","content":"custom text","display":true,"details":{"a":1},@}',
      ],
      [{ type: 'custom', customType: 'st', data: { n: 1 } }, '{"type":"custom","customType":"st","data":{"n":1},@}'],
      [{ type: 'session_info', name: 'ext name' }, '{"type":"session_info",@,"name":"ext name"}'],
      [
        { type: 'branch_summary', fromId: 'root', summary: 's' },
        '{"type":"branch_summary",@,"fromId":"root","summary":"s"}',
      ],
      [{ type: 'label', targetId: 'a', label: undefined }, '{"type":"label",@,"targetId":"a"}'],
      [
        { type: 'usage', kind: 'k', provider: 'p', model: 'm', usage },
        `{"type":"usage",@,"kind":"k","provider":"p","model":"m","usage":${JSON.stringify(usage)}}`,
      ],
      [
        { type: 'context_edit', targetId: 'a', replacement: null },
        '{"type":"context_edit",@,"targetId":"a","replacement":null}',
      ],
    ];

    const entries = drafts.map(([draft]) => log.append(draft));

    const { id, timestamp } = log.header;
    const parents = [null, ...entries.map((entry) => entry.id)];
    expect(linesOf(log.path)).toEqual([
      `{"type":"session","version":3,"id":"${id}","timestamp":"${timestamp}","cwd":"/srv/shop"}`,
      ...drafts.map(([, text], index) => {
        const { id, timestamp } = entries[index] ?? {};
        return text.replace(
          '@',
          `"id":"${id}","parentId":${JSON.stringify(parents[index])},"timestamp":"${timestamp}"`,
        );
      }),
    ]);
    expect(log.entries()).toEqual(JSON.parse(JSON.stringify(entries)));
    for (const entry of entries) {
      expect(entry.id).toMatch(/^[0-9a-f]{8}$/);
      expect(entry.timestamp).toBe(new Date(entry.timestamp).toISOString());
    }
    await log.close();
  });

  it('reads files of pi and leaves them unchanged', async () => {
    const lines = [
      '{"type":"model_change","id":"724410d1","parentId":null,"timestamp":"2026-11-15T06:29:21.771Z","provider":"mock","modelId":"m1"}',
      '{"type":"thinking_level_change","id":"95c62c8f","parentId":"724410d1","timestamp":"2026-11-15T06:29:21.772Z","thinkingLevel":"medium"}',
      '{"type":"message","id":"67fc1e9a","parentId":"95c62c8f","timestamp":"2026-11-15T06:29:21.773Z","message":{"role":"user","content":[{"type":"text","text":"first"}],"timestamp":1}}',
      '{"type":"compaction","id":"aaa96061","parentId":"67fc1e9a","timestamp":"2026-11-15T06:29:21.774Z","summary":"…","firstKeptEntryId":"67fc1e9a","tokensBefore":120010,"details":{"readFiles":[],"modifiedFiles":[]},"fromHook":false}',
      '{"type":"custom_message","customType":"ct","content":"custom text","display":true,"details":{"a":1},"id":"bb39ef69","parentId":"aaa96061","timestamp":"2026-11-15T06:29:21.775Z"}',
      '{"type":"custom","customType":"st","data":{"n":1},"id":"b65cd84e","parentId":"bb39ef69","timestamp":"2026-11-15T06:29:21.776Z"}',
      '{"type":"session_info","id":"d80a8f6a","parentId":"b65cd84e","timestamp":"2026-11-15T06:29:21.777Z","name":"ext name"}',
    ];
    const file = writeSession(join(tempFolder(), 's.jsonl'), ...lines);

    const log = await SessionLog.open(file);

    expect(log.header).toEqual(JSON.parse(HEADER));
    expect(log.branch()).toEqual(lines.map((text) => JSON.parse(text)));
    expect([...log.nodes()].map(({ type, role, customType }) => role ?? customType ?? type)).toEqual([
      'session_info',
      'st',
      'ct',
      'compaction',
      'user',
      'thinking_level_change',
      'model_change',
    ]);
    await log.close();
    expect(linesOf(file)).toEqual([HEADER, ...lines]);
  });
});
