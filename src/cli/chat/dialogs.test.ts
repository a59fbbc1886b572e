import { expect, it } from 'vitest';
import { AgentClient } from '../../client/agent-client.ts';
import { toLine } from '../../wire/json-lines.ts';
import { memoryPair } from '../../wire/memory.ts';
import { TerminalDialogs } from './dialogs.ts';
import { Printer, plainInk } from './printer.ts';

const dialog = (id: string, method: string, more: object = {}) => ({
  type: 'extension_ui_request',
  id,
  method,
  title: `Well, ${id}?`,
  ...more,
});

// Dialogs in a chat whose agent and keyboard are played by the test.
function inChat() {
  const [agent, link] = memoryPair();
  const sent: Record<string, unknown>[] = [];
  agent.onLine((line) => {
    if ('text' in line) sent.push(JSON.parse(line.text));
  });
  let printed = '';
  const dialogs = new TerminalDialogs(
    new Printer(
      {
        get atLineStart() {
          return printed === '' || printed.endsWith('\n');
        },
        print: (text) => {
          printed += text;
        },
      },
      plainInk,
    ),
  );
  new AgentClient(link).onUiRequest((request, { signal }) => dialogs.show(request, signal));
  const delivered = () => new Promise((resolve) => setImmediate(resolve));
  const emit = async (...records: object[]) => {
    for (const record of records) agent.write(toLine(record));
    await delivered();
  };
  const type = async (...lines: string[]) => {
    for (const line of lines) dialogs.handleLine(line);
    await delivered();
  };
  const answers = () => sent.map(({ type: _type, id: _id, ...answer }) => answer);
  return { dialogs, emit, type, delivered, answers, printed: () => printed };
}

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
