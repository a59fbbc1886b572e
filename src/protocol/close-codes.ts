/** Why the server closes a connection. Clients decide by these whether to come back, and what to say. */
export const closeCodes = {
  normal: 1000,
  /** A token that is wrong, has ended or was taken back. */
  invalidToken: 1008,
  tooBig: 1009,
  agentFailed: 1011,
  restart: 1012,
  overloaded: 1013,
  badParameters: 4400,
  denied: 4403,
  sessionNotFound: 4404,
  /** It reads too slowly, and may resume. */
  tooSlow: 4408,
  /** The session is in use by another process. */
  sessionInUse: 4409,
  tooManyCommands: 4429,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];
