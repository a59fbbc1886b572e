// The limit of the WebSocket protocol.
const MAX_REASON_BYTES = 123;

/** Truncates a reason to the size of a close frame, at a character boundary. */
export function shortReason(reason: string): string {
  if (Buffer.byteLength(reason) <= MAX_REASON_BYTES) return reason;
  return Buffer.from(reason)
    .subarray(0, MAX_REASON_BYTES - 1)
    .toString()
    .replace(/\uFFFD+$/u, '');
}
