import type { Writable } from 'node:stream';

/** A way to write to a stream by which everything that is written in one turn of the event loop leaves in one go. */
export function batchedWrite(stream: Writable): (text: string) => boolean {
  const write = stream.write.bind(stream) as (text: string) => boolean;
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
    return write(text);
  };
}
