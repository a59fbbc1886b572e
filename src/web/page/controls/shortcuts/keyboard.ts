import { type KeyboardLayout, keyNames } from './keys.ts';

/** The keyboard that is typed on, as far as can be told. */
export const keyboard: KeyboardLayout = /mac|iphone|ipad/i.test(navigator.platform) ? 'mac' : 'other';

/** The keys of a shortcut in a sentence, as they are written on that keyboard. */
export const keysText = (keys: string): string => keyNames(keys, keyboard).join('+');
