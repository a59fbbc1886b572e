import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFacts } from './line-facts.ts';
import { EDGE_BYTES, quickParse } from './quick-parse.ts';

const parseQuickly = (line: string) => {
  const bytes = Buffer.from(line);
  return quickParse(bytes, 0, bytes.length);
};

describe('quickParse', () => {
  it.each([
    '{"type":"message","id":"67fc1e9a","parentId":"95c62c8f","timestamp":"t","message":{"role":"user","content":"x"}}',
    '{"type":"message","id":"67fc1e9a","parentId":null,"timestamp":"t","message":{"role":"toolResult"}}',
    '{"type":"message","id":"a","parentId":"b","timestamp":"t","clientMessageId":"c","queueId":"q","message":{"role":"user"}}',
    '{"type":"message","id":"a","parentId":"b","timestamp":"t","queueId":"q","message":{"role":"user"}}',
    '{"type":"compaction","id":"a","parentId":"b","timestamp":"t","summary":"…"}',
    '{"type":"custom","customType":"st","data":{"id":"x","parentId":null,"timestamp":"t"},"id":"a","parentId":"b","timestamp":"t"}',
    '{"type":"custom_message","customType":"ct","content":"ü","display":true,"id":"a","parentId":null,"timestamp":"t"}',
    '{"type":"custom","id":"a","parentId":"b","timestamp":"t","customType":"st","data":1}',
    '{"type":"hologram","id":"a","parentId":"b","timestamp":"t","message":{"role":"user"}}',
  ])('reads %s', (line) => {
    expect(parseQuickly(line)).toEqual(parseFacts(line));
    expect(parseQuickly(line)).toBeDefined();
  });

  it.each([
    '{"type":"custom","customType":"st","data":{"id":"x","parentId":null,"timestamp":"t"}}',
    '{"type":"custom","customType":"st","data":",\\"id\\":\\"x\\",\\"parentId\\":null,\\"timestamp\\":\\"t\\"}"}',
    '{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"content":"x","role":"user"}}',
    '{"type":"message","id":"ä","parentId":"b","timestamp":"t","message":{"role":"user"}}',
    '{"type":"message","id":"a\\n","parentId":"b","timestamp":"t","message":{"role":"user"}}',
    '{"type":"message","id":"a","parentId":"b","timestamp":"t","message":{"role":"user","content":"half a li',
    '{"type": "message","id":"a","parentId":"b","timestamp":"t","message":{"role":"user"}}',
    '{"type":"message","id":"","parentId":"b","timestamp":"t","message":{"role":"user"}}',
    `{"type":"message","id":"${'a'.repeat(EDGE_BYTES)}","parentId":"b","timestamp":"t","message":{"role":"user"}}`,
    '}',
    '',
  ])('returns undefined for %s', (line) => {
    expect(parseQuickly(line)).toBeUndefined();
  });

  it('never contradicts the full parser', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 12 }),
      fc.constantFrom(
        'message',
        'custom',
        'custom_message',
        'session',
        'user',
        '","id":"x',
        '\\',
        '"}',
        'a'.repeat(200),
      ),
    );
    const base = fc.record({ id: text, parentId: fc.option(text), timestamp: text });
    const own = fc.record(
      {
        customType: text,
        clientMessageId: text,
        queueId: text,
        data: fc.jsonValue(),
        message: fc.record({ role: text }),
      },
      { requiredKeys: [] },
    );
    const entry = fc
      .tuple(text, base, own, fc.boolean())
      .map(([type, base, own, baseFirst]) => (baseFirst ? { type, ...base, ...own } : { type, ...own, ...base }));
    const nested = entry.chain((inner) => entry.map((outer) => ({ ...outer, data: inner })));

    fc.assert(
      fc.property(fc.oneof(entry, nested), (value) => {
        const line = JSON.stringify(value);
        const facts = parseQuickly(line);
        if (facts) expect(facts).toEqual(parseFacts(line));
      }),
      { numRuns: 5000 },
    );
  });
});
