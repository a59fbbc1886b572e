/** Why the server closes a connection. Clients decide by these whether to come back. */
export const closeCodes = {
  bye: 1000,
  /** A token that is wrong, has ended or was taken back. */
  token: 1008,
  tooBig: 1009,
  agentFailed: 1011,
  restart: 1012,
  overloaded: 1013,
  badParameters: 4400,
  denied: 4403,
  noSession: 4404,
  /** It reads too slowly, and may resume. */
  slow: 4408,
  /** The session is in use by another process. */
  inUse: 4409,
  tooManyCommands: 4429,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];

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
