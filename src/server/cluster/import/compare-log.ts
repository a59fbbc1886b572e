import type { FencedLog } from '../log/fenced-log.ts';
import { RecordJoiner } from '../log/log-record.ts';

/** The log of a session beside the lines of a file. */
export interface LogComparison {
  /** How many bytes of entries the log holds. */
  readonly bytes: number;
  /** The number of the first line that is different; undefined if one of the two extends the other. */
  readonly differentLine: number | undefined;
  readonly isTrashed: boolean;
}

/** Compares all entries of a log up to a record with the lines of a file. */
export async function compareLog(log: FencedLog, upTo: number, lines: Buffer): Promise<LogComparison> {
  const joiner = new RecordJoiner();
  let bytes = 0;
  let differentLine: number | undefined;
  let isTrashed = false;
  for await (const message of log.read(0, upTo)) {
    const record = joiner.add(message);
    if (record?.kind === 'trash' || record?.kind === 'restore') isTrashed = record.kind === 'trash';
    if (record?.kind !== 'entries') continue;
    differentLine ??= firstDifference(record.data, lines, bytes);
    bytes += record.data.length;
  }
  return { bytes, differentLine, isTrashed };
}

const LF = 0x0a;

/** The number of the first line of the file, from 1, in which the entries differ from the file at an offset. */
function firstDifference(entries: Uint8Array, lines: Buffer, offset: number): number | undefined {
  const expected = lines.subarray(offset, offset + entries.length);
  if (Buffer.compare(expected, entries.subarray(0, expected.length)) === 0) return undefined;
  const at = offset + expected.findIndex((byte, index) => byte !== entries[index]);
  return 1 + lines.subarray(0, at).filter((byte) => byte === LF).length;
}
