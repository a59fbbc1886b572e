import { type KeyboardLayout, keyNames } from './keys.ts';

/** The keyboard layout, guessed from the platform. */
export const keyboard: KeyboardLayout = /mac|iphone|ipad/i.test(navigator.platform) ? 'mac' : 'other';

/** Formats the keys of a shortcut as text for this keyboard. */
export const keysText = (keys: string): string => keyNames(keys, keyboard).join('+');
