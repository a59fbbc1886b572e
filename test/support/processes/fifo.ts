import { execFileSync } from 'node:child_process';
import { open, readFile } from 'node:fs/promises';

/** A FIFO between a test and a shell command. */
export interface Fifo {
  /** Settles when a command reads it (`read -r _ < fifo`); the command waits until the returned function is called. */
  readonly reader: () => Promise<() => Promise<void>>;
  /** Settles with what a command has written (`echo > fifo`). */
  readonly text: () => Promise<string>;
}

/** Makes a FIFO. */
export function makeFifo(path: string): Fifo {
  execFileSync('mkfifo', [path]);
  return {
    reader: async () => {
      const file = await open(path, 'w');
      return async () => {
        await file.write('\n');
        await file.close();
      };
    },
    text: () => readFile(path, 'utf8'),
  };
}
