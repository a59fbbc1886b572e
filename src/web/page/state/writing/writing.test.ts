import { signal } from '@preact/signals';
import { describe, expect, it } from 'vitest';
import type { ConversationView } from '../../../../client/view/view.ts';
import type { Attachment } from './attachment.ts';
import { saidBefore } from './said-before.ts';
import { Writing } from './writing.ts';

const file: Attachment = { kind: 'text', name: 'a.txt', text: 'a', bytes: 1 };

const picture = (name: string): Attachment => ({ kind: 'image', name, mimeType: 'image/png', data: '' });

const writing = (text = '') => new Writing(signal(text));

describe('what is given back', () => {
  it('stands before what was written meanwhile, with what was attached', () => {
    const here = writing('first');
    here.attach(file);

    const written = here.take();
    const between = [here.text.value, here.attachments.value];
    here.text.value = 'second';
    here.giveBack(written);

    expect(between).toEqual(['', []]);
    expect([here.text.value, here.attachments.value]).toEqual(['first\n\nsecond', [file]]);
  });

  it('is in its order when it waited, and as it was written where that is known', () => {
    const here = writing('draft');
    here.waiting.add({ queueId: 'q', text: 'two, written out', written: { text: 'two', attachments: [file] } });

    here.giveBackAll(['one', 'two, written out']);

    expect([here.text.value, here.attachments.value]).toEqual(['one\n\ntwo\n\ndraft', [file]]);
  });

  it('is what it was being changed to, with its pictures', () => {
    const here = writing('draft');
    const written = { text: 'two', attachments: [picture('a'), file] };
    here.waiting.add({ queueId: 'q', text: 'two, written out', written });
    const change = { queueId: 'q', before: 'two, written out', message: 'two, changed' };

    const isThere = [here.giveBackAll(['one', 'two, written out', 'one'], change), here.giveBackAll([], change)];

    expect(isThere).toEqual([true, false]);
    expect(here.text.value).toBe('one\n\ntwo, changed\n\none\n\ndraft');
    expect(here.attachments.value).toEqual([picture('a')]);
  });

  it.each(['as it was', '  '])('is what it was where nothing came of a change: "%s"', (message) => {
    const here = writing();

    here.giveBackAll(['as it was'], { queueId: 'q', before: 'as it was', message });

    expect(here.text.value).toBe('as it was');
  });
});

describe('pictures without words', () => {
  const wait = (here: Writing, ...names: readonly string[]) => {
    for (const name of names)
      here.waiting.add({ queueId: name, text: '', written: { text: '', attachments: [picture(name)] } });
  };
  const queue = (...ids: readonly string[]) => ids.map((id) => ({ id, kind: 'steer' as const, text: '' }));

  it('are given back once, the last ones first', () => {
    const here = writing();
    wait(here, 'a', 'b', 'c');

    here.giveBackAll(['', '']);
    const last = here.attachments.value;
    here.giveBackAll(['', '']);

    expect(last).toEqual([picture('b'), picture('c')]);
    expect(here.attachments.value).toEqual([picture('a'), ...last]);
  });

  it('are forgotten when they wait no more, but not before they were given back', async () => {
    const here = writing();
    wait(here, 'a', 'b', 'c');

    here.waiting.settle(queue('b', 'c'));
    await here.waiting.during(async () => {
      here.waiting.settle([]);
      here.giveBackAll(['', '', '']);
    });
    wait(here, 'd');
    here.waiting.settle([]);
    here.giveBackAll(['']);

    expect(here.attachments.value).toEqual([picture('b'), picture('c')]);
  });

  it('stay with words that were changed in the queue', () => {
    const here = writing();
    here.waiting.add({ queueId: 'q', text: 'as it was', written: { text: 'as', attachments: [picture('a'), file] } });

    here.waiting.settle([{ id: 'q', kind: 'steer', text: 'as it is' }]);
    here.giveBackAll(['as it is']);

    expect([here.text.value, here.attachments.value]).toEqual(['as it is', [picture('a')]]);
  });
});

it('is not sent before everything that belongs to it was read', () => {
  const here = writing('look');

  here.reading.value = 1;
  const isReady = [here.isReady];
  here.reading.value = 0;

  expect([...isReady, here.isReady, writing(' ').isReady]).toEqual([false, true, false]);
});

describe('arrows', () => {
  const said = () => ['newest', 'older'];

  it('go through what was said before, and back to the empty box', () => {
    const here = writing();
    const shown = () => here.text.value;

    const seen = [here.older(said), shown(), here.older(said), shown(), here.older(said), shown()];
    const back = [here.newer(), shown(), here.newer(), shown(), here.newer()];

    expect(seen).toEqual([true, 'newest', true, 'older', true, 'older']);
    expect(back).toEqual([true, 'newest', true, '', false]);
  });

  it('leave alone what is being written', () => {
    const here = writing('mine');
    const isBrowsing = [here.older(said), here.newer()];
    here.text.value = '';
    here.older(said);
    here.text.value = 'newest, changed';

    expect([...isBrowsing, here.older(said), here.text.value]).toEqual([false, false, false, 'newest, changed']);
  });

  it('find what was replaced', () => {
    const here = writing('mine');

    here.replace('of an extension');
    const { said: aside } = here;
    here.text.value = '';
    here.older(() => here.said);

    expect([aside, here.text.value]).toEqual([['mine'], 'mine']);
  });

  it('do nothing where nothing was said', () => {
    expect(writing().older(() => [])).toBe(false);
  });
});

it('what was said before is what users said and ran, the newest first and each once', () => {
  const messages = [
    { role: 'user', content: 'one' },
    { role: 'user', content: [{ type: 'text', text: 'two' }, { type: 'image' }] },
    { role: 'assistant', content: [] },
    { role: 'bashExecution', command: 'ls' },
    { role: 'bashExecution', command: 'env', excludeFromContext: true },
    { role: 'user', content: 'one' },
  ] as unknown as ConversationView['messages'];

  expect(saidBefore(messages, ['/help', 'two'])).toEqual(['/help', 'two', 'one', '!!env', '!ls']);
});
