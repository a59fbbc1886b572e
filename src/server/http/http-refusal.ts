import { type ErrorCode, Refusal } from '../../protocol/errors.ts';

/** A refusal with an HTTP status. The code is the contract; the text is for people. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal';
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.headers = headers;
  }

  /** A refusal keeps its code. Any other error becomes `internal` without details. */
  static from(error: unknown): HttpRefusal {
    if (error instanceof HttpRefusal) return error;
    const status = error instanceof Refusal ? statuses[error.code] : undefined;
    if (error instanceof Refusal && status !== undefined) return new HttpRefusal(status, error.code, error.message);
    return new HttpRefusal(500, 'internal', 'Something went wrong in the server');
  }
}

const statuses: Partial<Record<ErrorCode, number>> = {
  invalid_params: 400,
  permission_denied: 403,
  not_found: 404,
  session_not_found: 404,
  overloaded: 503,
};
