import fc from 'fast-check';
import { expect, it } from 'vitest';
import { piTui } from './pi-tui.ts';

// biome-ignore lint/suspicious/noExplicitAny: extensions know the names by pi's types, which are not here
const tui = piTui() as any;

const RED = '\u001B[31m';
const LINK = '\u001B]8;;https://example.com\u0007';

it.each([
  ['plain', 5],
  [`${RED}red\u001B[0m`, 3],
  [`${LINK}link\u001B]8;;\u001B\\`, 4],
  ['日本', 4],
  ['e\u0301', 1],
  ['👩‍💻', 2],
  ['❤️', 2],
  ['a\tb', 5],
  ['', 0],
])('%j takes %i columns', (text, width) => {
  expect(tui.visibleWidth(text)).toBe(width);
});

it('a text that is too wide is truncated', () => {
  expect(tui.truncateToWidth('hello world', 8)).toBe('hello...');
  expect(tui.truncateToWidth('hello', 8)).toBe('hello');
  expect(tui.truncateToWidth('hello', 8, '…', true)).toBe('hello   ');
  expect(tui.truncateToWidth('日本語', 5, '…')).toBe('日本…');
  expect(tui.truncateToWidth('hello', 2)).toBe('..');
});

it('lines wrap between words, and inside a word only if it is too wide', () => {
  expect(tui.wrapTextWithAnsi('the quick brown fox\n\njumps', 10)).toEqual(['the quick', 'brown fox', '', 'jumps']);
  expect(tui.wrapTextWithAnsi('abcdefgh', 3)).toEqual(['abc', 'def', 'gh']);
  expect(tui.wrapTextWithAnsi(`${RED}red\u001B[0m ink`, 4)).toEqual([`${RED}red\u001B[0m`, 'ink']);
});

const anyText = fc.string({ unit: fc.constantFrom('a', ' ', '日', RED, '👩‍💻', 'e\u0301', '\n', '-') });

it('no line exceeds the width, and wrapping loses only blanks', () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 2, max: 20 }), (text, width) => {
      const lines: string[] = tui.wrapTextWithAnsi(text, width);
      expect(Math.max(...lines.map((line): number => tui.visibleWidth(line)))).toBeLessThanOrEqual(width);
      expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(/[ \n]/g, ''));
      expect(tui.visibleWidth(tui.truncateToWidth(text, width))).toBeLessThanOrEqual(width);
    }),
  );
});

it('components can be created and queried without a screen', () => {
  const box = new tui.Box();
  const text = new tui.Text('hello');
  box.addChild(text);
  box.addChild(new tui.Spacer(2));
  box.addChild(new tui.Markdown('**x**'));
  box.addChild(new tui.TruncatedText('long enough'));
  expect(box.render(6)).toEqual(['hello', '', '', '**x**', 'lon...']);
  box.removeChild(text);
  box.clear();
  expect(box.render(6)).toEqual([]);

  const editor = new tui.Editor();
  editor.setText('a');
  editor.insertTextAtCursor('\nb');
  expect([editor.getText(), editor.getLines(), editor.render(5)]).toEqual(['a\nb', ['a', 'b'], []]);
  const input = new tui.Input();
  input.setValue('typed');
  expect(input.getValue()).toBe('typed');
  expect(new tui.SelectList([{ value: 'x' }]).getSelectedItem()).toEqual({ value: 'x' });
  expect(new tui.CancellableLoader().signal.aborted).toBe(false);
});

it('no key ever matches', () => {
  expect([tui.matchesKey('a', 'a'), tui.Key.enter, tui.Key.ctrlShift('p')]).toEqual([false, 'enter', 'ctrl+shift+p']);
});

it('a fuzzy filter keeps the items that contain the letters in order', () => {
  const items = ['read file', 'write file', 'run'];

  expect(tui.fuzzyFilter(items, 'fil', (item: string) => item)).toEqual(['read file', 'write file']);
  expect(tui.fuzzyFilter(items, 'r n', (item: string) => item)).toEqual(['run']);
  expect(tui.fuzzyFilter(items, '', (item: string) => item)).toEqual(items);
});
