import type { InputLine } from './json-lines.ts';

/** A connection to one peer that carries lines, whatever the transport. */
export interface Link {
  /** Sends text; false means that the peer is behind and the caller should wait for `onDrain`. */
  write(text: string): boolean;
  onDrain(listener: () => void): void;
  /** Settles when everything written has left this process, or writing has failed. */
  flush(): Promise<void>;
  onLine(listener: (line: InputLine) => void): void;
  /** The peer will send nothing more; it may still read. */
  onEnd(listener: () => void): void;
  /** The connection is closed in both directions; the reason is given if it is known. */
  onClose(listener: (reason?: string) => void): void;
  /** Stops or resumes reading. A few lines may still arrive after `pause`. */
  pause(): void;
  resume(): void;
  close(): void;
}
