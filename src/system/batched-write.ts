import type { Writable } from 'node:stream';

/** From here on a text is worth a buffer of its own: Node sets aside three bytes for each character of a string. */
const BUFFER_THRESHOLD = 64 * 1024;

/** A way to write to a stream by which everything that is written in one turn of the event loop leaves in one go. */
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
