import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { ConversationView } from '../../../../client/view/view.ts';
import type { Attachment } from './attachment.ts';
import { inputHistory, MessageDraft } from './message-draft.ts';

const file: Attachment = { kind: 'text', name: 'a.txt', text: 'a', bytes: 1 };

const picture = (name: string): Attachment => ({ kind: 'image', name, mimeType: 'image/png', data: '' });

const draftWith = (text = '') => new MessageDraft(signal(text));

describe('restored content', () => {
  it('comes before text written in the meantime, with its attachments', () => {
    const draft = draftWith('first');
    draft.attach(file);

    const content = draft.take();
    const between = [draft.text.value, draft.attachments.value];
    draft.text.value = 'second';
    draft.restore(content);

    expect(between).toEqual(['', []]);
    expect([draft.text.value, draft.attachments.value]).toEqual(['first\n\nsecond', [file]]);
  });

  it('keeps the queue order and the original attachments', () => {
    const draft = draftWith('draft');
    draft.queued.add({ queueId: 'q', text: 'two, written out', content: { text: 'two', attachments: [file] } });

    draft.restoreQueued(['one', 'two, written out']);

    expect([draft.text.value, draft.attachments.value]).toEqual(['one\n\ntwo\n\ndraft', [file]]);
  });

  it('is the edited text with its images', () => {
    const draft = draftWith('draft');
    const content = { text: 'two', attachments: [picture('a'), file] };
    draft.queued.add({ queueId: 'q', text: 'two, written out', content });
    const edit = { queueId: 'q', before: 'two, written out', message: 'two, changed' };

    const isIncluded = [draft.restoreQueued(['one', 'two, written out', 'one'], edit), draft.restoreQueued([], edit)];

    expect(isIncluded).toEqual([true, false]);
    expect(draft.text.value).toBe('one\n\ntwo, changed\n\none\n\ndraft');
    expect(draft.attachments.value).toEqual([picture('a')]);
  });

  it.each(['as it was', '  '])('is the original text when the edit changed nothing: "%s"', (message) => {
    const draft = draftWith();

    draft.restoreQueued(['as it was'], { queueId: 'q', before: 'as it was', message });

    expect(draft.text.value).toBe('as it was');
  });
});

describe('queued images without text', () => {
  const enqueue = (draft: MessageDraft, ...names: readonly string[]) => {
    for (const name of names)
      draft.queued.add({ queueId: name, text: '', content: { text: '', attachments: [picture(name)] } });
  };
  const queue = (...ids: readonly string[]) => ids.map((id) => ({ id, kind: 'steer' as const, text: '' }));

  it('are restored once, the last ones first', () => {
    const draft = draftWith();
    enqueue(draft, 'a', 'b', 'c');

    draft.restoreQueued(['', '']);
    const last = draft.attachments.value;
    draft.restoreQueued(['', '']);

    expect(last).toEqual([picture('b'), picture('c')]);
    expect(draft.attachments.value).toEqual([picture('a'), ...last]);
  });

  it('are forgotten when they leave the queue, but not during a withdrawal', async () => {
    const draft = draftWith();
    enqueue(draft, 'a', 'b', 'c');

    draft.queued.sync(queue('b', 'c'));
    await draft.queued.withdrawing(async () => {
      draft.queued.sync([]);
      draft.restoreQueued(['', '', '']);
    });
    enqueue(draft, 'd');
    draft.queued.sync([]);
    draft.restoreQueued(['']);

    expect(draft.attachments.value).toEqual([picture('b'), picture('c')]);
  });

  it('stay with a text that was edited in the queue', () => {
    const draft = draftWith();
    draft.queued.add({ queueId: 'q', text: 'as it was', content: { text: 'as', attachments: [picture('a'), file] } });

    draft.queued.sync([{ id: 'q', kind: 'steer', text: 'as it is' }]);
    draft.restoreQueued(['as it is']);

    expect([draft.text.value, draft.attachments.value]).toEqual(['as it is', [picture('a')]]);
  });
});

it('a draft is not ready before all its files were read', () => {
  const draft = draftWith('look');

  draft.pendingFiles.value = 1;
  const isReady = [draft.isReady];
  draft.pendingFiles.value = 0;

  expect([...isReady, draft.isReady, draftWith(' ').isReady]).toEqual([false, true, false]);
});

describe('arrow keys', () => {
  const entries = () => ['newest', 'older'];

  it('browse the input history and return to the empty box', () => {
    const draft = draftWith();
    const shown = () => draft.text.value;

    const seen = [draft.older(entries), shown(), draft.older(entries), shown(), draft.older(entries), shown()];
    const back = [draft.newer(), shown(), draft.newer(), shown(), draft.newer()];

    expect(seen).toEqual([true, 'newest', true, 'older', true, 'older']);
    expect(back).toEqual([true, 'newest', true, '', false]);
  });

  it('leave a draft in progress alone', () => {
    const draft = draftWith('mine');
    const isBrowsing = [draft.older(entries), draft.newer()];
    draft.text.value = '';
    draft.older(entries);
    draft.text.value = 'newest, changed';

    expect([...isBrowsing, draft.older(entries), draft.text.value]).toEqual([false, false, false, 'newest, changed']);
  });

  it('find a text that was replaced', () => {
    const draft = draftWith('mine');

    draft.replace('of an extension');
    const { history: aside } = draft;
    draft.text.value = '';
    draft.older(() => draft.history);

    expect([aside, draft.text.value]).toEqual([['mine'], 'mine']);
  });

  it('do nothing without history', () => {
    expect(draftWith().older(() => [])).toBe(false);
  });
});

it('the input history has sent texts, prompts and shell lines, newest first, without duplicates', () => {
  const messages = [
    { role: 'user', content: 'one' },
    { role: 'user', content: [{ type: 'text', text: 'two' }, { type: 'image' }] },
    { role: 'assistant', content: [] },
    { role: 'bashExecution', command: 'ls' },
    { role: 'bashExecution', command: 'env', excludeFromContext: true },
    { role: 'user', content: 'one' },
  ] as unknown as ConversationView['messages'];

  expect(inputHistory(messages, ['/help', 'two'])).toEqual(['/help', 'two', 'one', '!!env', '!ls']);
});
