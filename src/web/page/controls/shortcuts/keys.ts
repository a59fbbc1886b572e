/** The fields of a key event that matter here. */
export type KeyPress = Pick<KeyboardEvent, 'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;

/** Key names differ by layout. */
export type KeyboardLayout = 'mac' | 'other';

/** Whether a key press matches a shortcut. `Mod` is ⌘ on a Mac and Ctrl elsewhere. */
export function isPressed(keys: string, pressed: KeyPress, keyboard: KeyboardLayout): boolean {
  const parts = keys.split('+');
  const key = parts.at(-1) ?? '';
  const has = (name: string) => parts.slice(0, -1).includes(name);
  const isLetter = /^[a-z]$/i.test(key);
  return (
    pressed.key.toLowerCase() === key.toLowerCase() &&
    pressed.ctrlKey === (has('Mod') && keyboard === 'other') &&
    pressed.metaKey === (has('Mod') && keyboard === 'mac') &&
    pressed.altKey === has('Alt') &&
    // Keyboards differ in whether a symbol needs Shift.
    (pressed.shiftKey === has('Shift') || (!isLetter && key.length === 1))
  );
}

/** Returns the keys of a shortcut as printed on the keyboard. */
export const keyNames = (keys: string, keyboard: KeyboardLayout): readonly string[] =>
  keys.split('+').map((key) => keySymbols[key]?.[keyboard] ?? key);

const arrow = (sign: string) => ({ mac: sign, other: sign });

const keySymbols: Readonly<Record<string, Readonly<Record<KeyboardLayout, string>>>> = {
  Mod: { mac: '⌘', other: 'Ctrl' },
  Alt: { mac: '⌥', other: 'Alt' },
  Shift: { mac: '⇧', other: 'Shift' },
  Enter: { mac: '↩', other: 'Enter' },
  Escape: { mac: 'esc', other: 'Esc' },
  ArrowUp: arrow('↑'),
  ArrowDown: arrow('↓'),
};
