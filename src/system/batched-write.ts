import type { Writable } from 'node:stream';

// A longer text becomes a buffer: Node reserves three bytes for each character of a string.
const BUFFER_THRESHOLD = 64 * 1024;

/** Returns a `write` for a stream that sends everything written in one turn of the event loop at once. */
export function batchedWrite(stream: Writable): (text: string) => boolean {
  const write = stream.write.bind(stream) as (text: string | Buffer) => boolean;
  let isCorked = false;
  const uncork = () => {
    isCorked = false;
    stream.uncork();
  };
  return (text) => {
    if (!isCorked) {
      isCorked = true;
      stream.cork();
      process.nextTick(uncork);
    }
    return write(text.length < BUFFER_THRESHOLD ? text : Buffer.from(text));
  };
}
