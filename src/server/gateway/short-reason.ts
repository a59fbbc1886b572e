/** What the protocol has room for. */
const MAX_REASON_BYTES = 123;

/** As much of a reason as a close frame can hold, without half a character at its end. */
export function shortReason(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES - 1)
    .toString()
    .replace(/\uFFFD+$/u, '');
}
