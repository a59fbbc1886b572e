import * as components from './tui/components.ts';
import * as fuzzy from './tui/fuzzy.ts';
import * as keys from './tui/keys.ts';
import * as textWidth from './tui/text.ts';

/** The names that extensions import from `pi-tui`. There is no screen: what would be on it is made and never shown. */
export const piTui = (): object => ({ ...components, ...fuzzy, ...keys, ...textWidth });
