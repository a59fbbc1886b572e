import { type Line, LineReader } from '../../wire/json-lines.ts';
import { BURST, MAX_EXCESS } from './command-rate.ts';
import { MAX_FRAME_BYTES } from './wire.ts';

/** Lines that one message may hold: more would be too many in any case. */
const MAX_LINES = BURST + MAX_EXCESS;

const LF = 10;

/** The lines of a message, unless they are more than anybody may send. */
export function linesIn(bytes: Buffer): readonly Line[] | 'too many' {
  let count = 1;
  for (let end = bytes.indexOf(LF); end !== -1; end = bytes.indexOf(LF, end + 1)) {
    if (++count > MAX_LINES) return 'too many';
  }
  const reader = new LineReader(MAX_FRAME_BYTES);
  return [...reader.push(bytes), ...reader.end()];
}
