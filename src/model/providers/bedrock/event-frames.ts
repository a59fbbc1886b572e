import { crc32 } from 'node:zlib';
import { ModelFailure } from '../../request.ts';

/** A message of AWS's binary event stream. */
export interface EventFrame {
  /** Its text headers, such as `:event-type`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: string;
}

// Lengths of the whole message and of its headers, and their checksum.
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MAX_BEDROCK_EVENT_BYTES = 16 * 1024 * 1024;

/**
 * A function that returns the frames which are complete after more bytes. It throws `ModelFailure` if a checksum is wrong:
 * the connection changed the bytes.
 */
export function frameReader(): (bytes: Buffer) => EventFrame[] {
  // The bytes of the incomplete frame, joined only when it may be complete: it may arrive in thousands of pieces.
  let pieces: Buffer[] = [];
  let size = 0;
  let requiredSize = PRELUDE_BYTES;
  return (bytes) => {
    pieces.push(bytes);
    size += bytes.length;
    if (size < requiredSize) return [];
    const { frames, rest, nextLength } = parseFrames(Buffer.concat(pieces, size));
    pieces = [rest];
    size = rest.length;
    requiredSize = nextLength ?? PRELUDE_BYTES;
    return frames;
  };
}

function parseFrames(bytes: Buffer): { frames: EventFrame[]; rest: Buffer; nextLength: number | undefined } {
  const frames: EventFrame[] = [];
  let rest = bytes;
  let nextLength = frameLength(rest);
  while (nextLength !== undefined && nextLength <= rest.length) {
    frames.push(parseFrame(rest.subarray(0, nextLength)));
    rest = rest.subarray(nextLength);
    nextLength = frameLength(rest);
  }
  return { frames, rest, nextLength };
}

function frameLength(bytes: Buffer): number | undefined {
  if (bytes.length < PRELUDE_BYTES) return undefined;
  check(bytes.subarray(0, PRELUDE_BYTES - CHECKSUM_BYTES), bytes.readUInt32BE(PRELUDE_BYTES - CHECKSUM_BYTES));
  const length = bytes.readUInt32BE(0);
  if (length > MAX_BEDROCK_EVENT_BYTES || length < PRELUDE_BYTES + CHECKSUM_BYTES)
    throw new ModelFailure('model_error', `An event of the stream has ${length} bytes`);
  return length;
}

function parseFrame(frame: Buffer): EventFrame {
  const end = frame.length - CHECKSUM_BYTES;
  check(frame.subarray(0, end), frame.readUInt32BE(end));
  const headersEnd = PRELUDE_BYTES + frame.readUInt32BE(4);
  if (headersEnd > end) throw new ModelFailure('model_error', 'The headers of an event are longer than the event');
  return {
    headers: parseHeaders(frame.subarray(PRELUDE_BYTES, headersEnd)),
    payload: frame.toString('utf8', headersEnd, end),
  };
}

function check(bytes: Buffer, expected: number): void {
  if (crc32(bytes) !== expected)
    throw new ModelFailure('connection_lost', 'The stream is damaged: a checksum of it is wrong');
}

// The bytes of values by their type; those of types 6 and 7 have a length before them.
const valueBytes: Readonly<Record<number, number>> = { 0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16 };
const TEXT_TYPE = 7;

function parseHeaders(bytes: Buffer): Record<string, string> {
  const headers: [string, string][] = [];
  let at = 0;
  try {
    while (at < bytes.length) {
      const nameEnd = at + 1 + bytes.readUInt8(at);
      const name = bytes.toString('utf8', at + 1, nameEnd);
      const type = bytes.readUInt8(nameEnd);
      const fixed = valueBytes[type];
      const start = nameEnd + (fixed === undefined ? 3 : 1);
      at = start + (fixed ?? bytes.readUInt16BE(nameEnd + 1));
      if (type === TEXT_TYPE) headers.push([name, bytes.toString('utf8', start, at)]);
    }
  } catch {
    throw new ModelFailure('model_error', 'The headers of an event are malformed');
  }
  return Object.fromEntries(headers);
}
