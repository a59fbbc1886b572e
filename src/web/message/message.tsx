import type { RunningTool } from '../../client/view.ts';

/** What belongs to a message beside its own words. */
export interface Surroundings {
  /** The result of a tool call, as a message; undefined while there is none. */
  readonly resultOf: (callId: string) => object | undefined;
  /** A call that is under way: `waiting` for its turn, or running with what it has printed so far; undefined for one that is over. */
  readonly progressOf?: ((callId: string) => 'waiting' | RunningTool | undefined) | undefined;
  /** Whether the message is still being written. */
  readonly isStreaming?: boolean | undefined;
}

interface MessageProps {
  /** A message of any role; it may be of another program, and hold anything. */
  readonly message: object;
  readonly around: Surroundings;
}

/** What a message says: words, thoughts, tools and pictures. Who says it, and when, is for whoever shows it. */
export const Message = ({ message }: MessageProps) => <pre>{JSON.stringify(message)}</pre>;
