import { expect, it } from 'vitest';
import { dialog, inChat } from './testing/scripted-chat.ts';

it.each<[string, object, string[], object, string]>([
  ['select', { options: ['red', 'blue'] }, ['2'], { value: 'blue' }, '  1. red\n  2. blue\n'],
  ['select', { options: ['red', 'blue'] }, ['red'], { value: 'red' }, '  1. red'],
  ['select', { options: ['5', '1'] }, ['5'], { value: '5' }, '  1. 5'],
  ['select', { options: ['red'] }, ['0', 'green', '1'], { value: 'red' }, '(a number from 1 to 1)'],
  ['select', { options: ['red'] }, [''], { cancelled: true }, 'an empty line calls it off'],
  ['confirm', { message: 'All of it?' }, ['Yes'], { confirmed: true }, 'All of it?'],
  ['confirm', { message: '' }, ['maybe', 'n'], { confirmed: false }, '(y or n)'],
  ['confirm', { message: '' }, [' '], { cancelled: true }, 'Well, d?'],
  ['input', { placeholder: 'a name' }, ['Ann '], { value: 'Ann ' }, '  a name'],
  ['input', {}, [''], { cancelled: true }, 'Well, d?'],
  ['editor', { prefill: 'Dear' }, ['one', 'two', '.'], { value: 'one\ntwo' }, 'Well, d?\nDear\n'],
  ['editor', {}, ['one\n\ntwo', ''], { value: 'one\n\ntwo' }, 'a lone dot'],
  ['editor', {}, ['.'], { cancelled: true }, 'a lone dot'],
])('%s %j is answered by %j', async (method, more, lines, answer, text) => {
  const { emit, type, answers, printed, dialogs } = inChat();

  await emit(dialog('d', method, more));
  expect(dialogs.isOpen).toBe(true);
  await type(...lines);

  expect(answers()).toEqual([answer]);
  expect(printed()).toContain(text);
  expect(dialogs.isOpen).toBe(false);
});

it('dialogs are shown one after another, and cancel closes the one on screen', async () => {
  const { emit, type, answers, printed, dialogs, delivered } = inChat();

  await emit(dialog('first', 'input'), dialog('second', 'input'), dialog('third', 'input'));
  expect(printed()).not.toContain('second');
  await type('one');
  expect(printed()).toContain('second');
  dialogs.cancel();
  await delivered();
  await type('three');

  expect(answers()).toEqual([{ value: 'one' }, { cancelled: true }, { value: 'three' }]);
});

it('dialogs that end elsewhere are closed', async () => {
  const { emit, type, answers, printed } = inChat();
  const over = (id: string) => ({ type: 'extension_ui_resolved', id, by: 'timeout' });
  await emit(dialog('first', 'input'), dialog('second', 'input'), dialog('third', 'input'));

  await emit(over('second'), over('first'));
  await type('three');

  expect(answers()).toEqual([{ value: 'three' }]);
  expect(printed().split('(This question is closed.)')).toHaveLength(2);
  expect(printed()).not.toContain('second');
});

it('notices are printed without control characters, other requests are not', async () => {
  const { emit, answers, printed } = inChat();

  await emit(
    { type: 'extension_ui_request', id: 'n', method: 'notify', message: 'Look\u001B[2J' },
    { type: 'extension_ui_request', id: 'e', method: 'notify', message: 'Oh no', notifyType: 'error' },
    { type: 'extension_ui_request', id: 's', method: 'setStatus', statusKey: 'k', statusText: 'busy' },
  );

  expect(printed()).toBe('Look[2J\nOh no\n');
  expect(answers()).toEqual([]);
});
