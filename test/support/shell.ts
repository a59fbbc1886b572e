import type { Record_ } from './peer.ts';

/** A command that says a word, waits for a file, and says another. */
export const waitFor = (path: string, word = 'begun') =>
  `echo ${word}; until [ -e ${path} ]; do sleep 0.01; done; echo over`;

/** A command that says its own number and that of a child, and never ends. */
export const FOREVER = 'sleep 1000 & echo $! $$; wait';

/** Whether a record tells that a command printed this. */
export const printed =
  (text: string) =>
  ({ type, delta }: Record_): boolean =>
    type === 'bash_execution_update' && (delta as string).includes(text);
