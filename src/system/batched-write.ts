import type { Writable } from 'node:stream';

/** From here on a text is worth a buffer of its own: Node sets aside three bytes for each character of a string. */
const LONG = 64 * 1024;

/** A way to write to a stream by which everything that is written in one turn of the event loop leaves in one go. */
export function batchedWrite(stream: Writable): (text: string) => boolean {
  const write = stream.write.bind(stream) as (text: string | Buffer) => boolean;
  let isWaiting = false;
  const release = () => {
    isWaiting = false;
    stream.uncork();
  };
  return (text) => {
    if (!isWaiting) {
      isWaiting = true;
      stream.cork();
      process.nextTick(release);
    }
    return write(text.length < LONG ? text : Buffer.from(text));
  };
}
