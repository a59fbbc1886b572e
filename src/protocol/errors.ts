/** The error codes of responses. Clients may rely on the code; the message beside it is for people. */
export const errorCodes = [
  'invalid_json',
  'invalid_params',
  'unknown_command',
  'not_supported',
  'model_not_found',
  'session_not_found',
  'not_a_session',
  'session_in_use',
  'permission_denied',
  'agent_busy',
  'not_found',
  'budget',
  'login_failed',
  'sandbox_unavailable',
  'overloaded',
  'internal',
] as const;

export type ErrorCode = (typeof errorCodes)[number];

/** The beginning of the message of `sandbox_unavailable`: the server recognises by it why an agent did not start. */
export const NO_SANDBOX = 'No sandbox works on this machine';

/** An error that reaches the client as `success: false` with its code. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly code: ErrorCode;
  /** The pid of the process that holds a session which is in use. */
  readonly holder: number | undefined;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions & { holder?: number | undefined }) {
    super(message, options);
    this.code = code;
    this.holder = options?.holder;
  }

  /** Any other error becomes `internal`: a bug of tau never reads as the client's fault. */
  static from(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    return new Refusal('internal', messageOf(error), { cause: error });
  }
}

/** Returns the message of any thrown value, even of one that cannot be converted to a string. */
export function messageOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    return 'Something without words was thrown';
  }
}

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
