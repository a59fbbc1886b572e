import type { WireRecord } from '../clients/peer.ts';

/** A command that prints a word, waits for a file and prints another word. */
export const waitForFileCommand = (path: string, word = 'begun') =>
  `echo ${word}; until [ -e ${path} ]; do sleep 0.05; done; echo over`;

/** A command that prints its pid and that of a child, and never ends. */
export const SLEEP_FOREVER = 'sleep 1000 & echo $! $$; wait';

/** Matches a record that carries this output of a bash command. */
export const hasBashOutput =
  (text: string) =>
  ({ type, delta }: WireRecord): boolean =>
    type === 'bash_execution_update' && (delta as string).includes(text);
