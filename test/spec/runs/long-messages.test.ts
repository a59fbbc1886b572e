import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { assistantTexts } from '../../support/agent/run-records.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { verifies } from '../../support/verifies.ts';

/** A window of 8,192 tokens, 2,048 of them reserved for the answer. */
const SMALL = ['--model', 'tau/scripted-small'];

/** Responses that match the last user text only if it was shortened. */
const SHORTENED = { text: 'shortened', when: '\\[… \\d+ of 180000 characters left out', keep: true };

const inputTokens = (records: readonly WireRecord[]): number[] =>
  records.flatMap((record) => {
    const { type, message } = record as { type: string; message?: { role: string; usage: { input: number } } };
    return type === 'message_end' && message?.role === 'assistant' ? [message.usage.input] : [];
  });

verifies(
  'K20',
  'a user message larger than the window is shortened for the model, not in the file',
  async ({ open }) => {
    const { peer, sessionFiles } = await open({ args: SMALL, script: [SHORTENED, { text: 'whole' }] });
    const long = 'word '.repeat(36_000);

    const records = await peer.run(long);
    const next = await peer.run('and now');

    expect(assistantTexts(records)).toEqual(['shortened']);
    expect(assistantTexts(next)).toEqual(['whole']);
    for (const input of inputTokens([...records, ...next])) expect(input).toBeLessThan(6144);
    expect(readFileSync(sessionFiles()[0] ?? '', 'utf8')).toContain(long);
  },
);

verifies('K20', 'tool results that do not fit together are shortened for the model', async ({ open }) => {
  const print = { toolCall: { name: 'bash', arguments: { command: 'yes word | head -c 40000' } } };
  const summary = { text: 'short', when: '<conversation>', keep: true };
  const script = [summary, { steps: [print, print, print, print] }, { text: 'done' }];
  const { peer } = await open({ args: SMALL, script });

  const records = await peer.run('go');

  expect(assistantTexts(records).at(-1)).toBe('done');
  expect(records.at(-1)).toMatchObject({ outcome: 'ok' });
  expect(inputTokens(records).at(-1)).toBeLessThan(6144);
  const results = records.filter((record) => JSON.stringify(record).includes('"role":"toolResult"'));
  expect(JSON.stringify(results)).not.toContain('characters left out');
});

verifies('K20', 'a message that fits into the window is sent whole', async ({ open }) => {
  const { peer } = await open({ script: [SHORTENED, { text: 'whole' }] });

  const records = await peer.run('word '.repeat(36_000));

  expect(assistantTexts(records)).toEqual(['whole']);
  expect(inputTokens(records)[0]).toBeGreaterThan(45_000);
});
