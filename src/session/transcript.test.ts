import { expect, it } from 'vitest';
import type { SessionEntry } from '../protocol/generated/vocabulary.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import { assistant, block, brief, prompt, usage } from './testing/sample-messages.ts';
import { Transcript } from './transcript.ts';

function transcriptWith(...texts: string[]) {
  const appended: SessionEntry[] = [];
  const log = SessionLog.inMemory({ cwd: '/srv/shop' });
  const transcript = new Transcript(log, (entry) => appended.push(entry));
  for (const text of texts) transcript.add(prompt(text));
  return { log, transcript, appended, idAt: (at: number) => log.entries()[at]?.id ?? '' };
}

const messages = (transcript: Transcript) => transcript.messages.map(brief);

it('storeLeaf continues the conversation from another entry', () => {
  const { transcript, appended, idAt } = transcriptWith('a', 'b', 'c');
  expect(messages(transcript)).toHaveLength(3);

  transcript.storeLeaf(idAt(0));

  expect([messages(transcript), transcript.messageCount]).toEqual([['user: a'], 1]);
  transcript.add(prompt('d'));
  expect([messages(transcript), transcript.messageCount]).toEqual([['user: a', 'user: d'], 2]);
  transcript.storeLeaf(null);
  expect([messages(transcript), transcript.messageCount]).toEqual([[], 0]);
  expect(appended.map(({ type }) => type)).toEqual(['message', 'message', 'message', 'custom', 'message', 'custom']);
});

it('appendBelow continues the conversation below another entry', () => {
  const { transcript, idAt } = transcriptWith('a', 'b');
  expect(messages(transcript)).toHaveLength(2);

  transcript.appendBelow(idAt(0), { type: 'branch_summary', fromId: idAt(1), summary: 'b was said' });

  expect([messages(transcript), transcript.messageCount]).toEqual([['user: a', 'branchSummary: b was said'], 2]);
});

it('the name, the counts and the client messages cover every branch', () => {
  const { transcript, idAt } = transcriptWith('a');
  transcript.add(assistant([block('b')], { usage: usage(3, 4) }));
  transcript.add(prompt('c'), { clientMessageId: 'mine' });
  transcript.append({ type: 'session_info', name: 'shop' });
  const { counts } = transcript;

  transcript.storeLeaf(idAt(0));

  expect(transcript.name).toBe('shop');
  expect(transcript.counts).toEqual(counts);
  expect(transcript.findClientMessage('mine')?.id).toBe(idAt(2));
});

it('entries can be labelled and unlabelled', () => {
  const { transcript, log, idAt } = transcriptWith('a', 'b');

  transcript.setLabel(idAt(0), 'here');
  transcript.setLabel(idAt(0), undefined);
  transcript.setLabel(idAt(1), '');

  const labels = log.entries().filter(({ type }) => type === 'label');
  expect(labels.map(({ id: _id, timestamp: _time, parentId: _parent, ...rest }) => rest)).toEqual([
    { type: 'label', targetId: idAt(0), label: 'here' },
    { type: 'label', targetId: idAt(0) },
    { type: 'label', targetId: idAt(1) },
  ]);
  expect(() => transcript.setLabel('nope', 'x')).toThrow(
    expect.objectContaining({ code: 'not_found', message: 'Entry not found: nope' }),
  );
  expect(log.entries()).toHaveLength(5);
});
