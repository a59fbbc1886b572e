/** Why the server closes a connection. Clients decide by these whether to come back, and what to say. */
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
