import type { InputLine } from './json-lines.ts';

/** One peer, whatever carries its lines. */
export interface Link {
  /** Hands over text; false means the peer is behind and the caller should wait for `onDrain`. */
  write(text: string): boolean;
  onDrain(listener: () => void): void;
  /** Settles when everything written has left this process, or can no longer. */
  flush(): Promise<void>;
  onLine(listener: (line: InputLine) => void): void;
  /** The peer will send nothing more; it may still read. */
  onEnd(listener: () => void): void;
  /** The peer is gone for both directions; the reason is told where there is more to say than that. */
  onClose(listener: (reason?: string) => void): void;
  /** Stops or goes on taking lines from the peer. A few that are under way may still arrive after `pause`. */
  pause(): void;
  resume(): void;
  close(): void;
}
