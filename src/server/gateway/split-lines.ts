import { type InputLine, LineReader } from '../../wire/json-lines.ts';
import { MAX_FRAME_BYTES } from './client-socket.ts';

// More lines in one message would exceed the rate in any case.
const MAX_LINES_PER_MESSAGE = 2000;

const LF = 10;

/** Splits a message into lines, unless it holds too many. */
export function splitLines(bytes: Buffer): readonly InputLine[] | 'too many' {
  let count = 1;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, end + 1)) {
    if (++count > MAX_LINES_PER_MESSAGE) return 'too many';
  }
  const reader = new LineReader(MAX_FRAME_BYTES);
  return [...reader.push(bytes), ...reader.end()];
}
