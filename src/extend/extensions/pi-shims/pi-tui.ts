import * as components from './tui/components.ts';
import * as keys from './tui/keys.ts';
import * as text from './tui/text.ts';

/** The exports of `pi-tui`. There is no screen: components are created and never shown. */
export const piTui = (): object => ({ ...components, ...keys, ...text });
