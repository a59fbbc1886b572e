/** WebSocket close codes of the server. Clients decide by them whether to reconnect and which message to show. */
export const closeCodes = {
  normal: 1000,
  /** The token is wrong, expired or revoked. */
  invalidToken: 1008,
  tooBig: 1009,
  agentFailed: 1011,
  restart: 1012,
  overloaded: 1013,
  badParameters: 4400,
  denied: 4403,
  sessionNotFound: 4404,
  /** The client reads too slowly; it may reconnect and resume. */
  tooSlow: 4408,
  /** The session is in use by another process. */
  sessionInUse: 4409,
  tooManyCommands: 4429,
} as const;

export type CloseCode = (typeof closeCodes)[keyof typeof closeCodes];
