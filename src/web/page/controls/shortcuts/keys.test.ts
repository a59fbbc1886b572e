import { expect, it } from 'vitest';
import { isPressed, type KeyPress, keyNames } from './keys.ts';
import { shortcuts } from './shortcuts.ts';

const press = (key: string, held: Partial<KeyPress> = {}): KeyPress => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

it('Mod is Cmd on a Mac and Ctrl elsewhere, and no other key', () => {
  const [ctrl, meta] = [press('k', { ctrlKey: true }), press('k', { metaKey: true })];

  expect(isPressed('Mod+K', ctrl, 'other')).toBe(true);
  expect(isPressed('Mod+K', meta, 'mac')).toBe(true);
  expect(isPressed('Mod+K', meta, 'other')).toBe(false);
  expect(isPressed('Mod+K', ctrl, 'mac')).toBe(false);
  expect(isPressed('Mod+K', press('k', { ctrlKey: true, altKey: true }), 'other')).toBe(false);
  expect(isPressed('Mod+Shift+O', press('O', { ctrlKey: true, shiftKey: true }), 'other')).toBe(true);
});

it('a symbol matches with or without Shift; a letter with Shift is another shortcut', () => {
  expect(isPressed('?', press('?', { shiftKey: true }), 'other')).toBe(true);
  expect(isPressed('/', press('/', { shiftKey: true }), 'other')).toBe(true);
  expect(isPressed('F', press('f'), 'other')).toBe(true);
  expect(isPressed('F', press('F', { shiftKey: true }), 'other')).toBe(false);
  expect(isPressed('F', press('f', { ctrlKey: true }), 'other')).toBe(false);
});

it('keys have the names printed on the keyboard', () => {
  expect(keyNames('Mod+Shift+O', 'mac')).toEqual(['⌘', '⇧', 'O']);
  expect(keyNames('Mod+Shift+O', 'other')).toEqual(['Ctrl', 'Shift', 'O']);
});

it('shortcuts have unique keys, take none that browsers reserve, and single letters do not work in a text field', () => {
  const handled = shortcuts.filter(({ run }) => run);
  const reserved = ['Mod+N', 'Mod+T', 'Mod+W', 'Mod+Q', 'Mod+Shift+N', 'Mod+Shift+T', 'Mod+Shift+W'];

  expect(new Set(handled.map(({ keys }) => keys)).size).toBe(handled.length);
  expect(handled.filter(({ keys }) => reserved.includes(keys))).toEqual([]);
  expect(handled.filter(({ keys, alsoWhileTyping }) => alsoWhileTyping && !/^(?:Mod|Alt)\+/.test(keys))).toEqual([]);
});
