const NAMES = ['escape', 'enter', 'tab', 'space', 'backspace', 'delete', 'insert', 'home', 'end', 'pageUp', 'pageDown'];
const MORE = [
  'up',
  'down',
  'left',
  'right',
  'esc',
  'return',
  'clear',
  ...Array.from({ length: 12 }, (_, at) => `f${at + 1}`),
];
const MODIFIERS = {
  ctrl: 'ctrl',
  shift: 'shift',
  alt: 'alt',
  super: 'super',
  ctrlShift: 'ctrl+shift',
  ctrlAlt: 'ctrl+alt',
  shiftAlt: 'shift+alt',
  ctrlShiftAlt: 'ctrl+shift+alt',
};

/** Key names, and functions that add modifiers to them. */
export const Key: Readonly<Record<string, string | ((key: string) => string)>> = {
  ...Object.fromEntries([...NAMES, ...MORE].map((name) => [name, name])),
  ...Object.fromEntries(Object.entries(MODIFIERS).map(([name, prefix]) => [name, (key: string) => `${prefix}+${key}`])),
};

/** There is no keyboard. */
export const matchesKey = (): boolean => false;
export const isKeyRelease = (): boolean => false;
export const isKeyRepeat = (): boolean => false;
export const parseKey = (): undefined => undefined;
export const CURSOR_MARKER = '';
