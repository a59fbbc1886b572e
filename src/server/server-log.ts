import type { Log, LogFields, LogLevel } from '../system/log.ts';

/** A request, when its answer is out. */
export interface AccessRecord {
  readonly method: string;
  /** Without its query. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly address: string;
  readonly grant: string | undefined;
}

/** What the server tells whoever runs it. No line holds a secret or more than one line. */
export class ServerLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** An answer that is out. Questions of machines about our health are told only at `debug`. */
  access({ path, ...rest }: AccessRecord, { isProbe = false } = {}): void {
    this.#write(isProbe ? 'debug' : 'info', 'answered', { ...rest, path: redactLongWords(path) });
  }

  /** Something that happened. */
  event(level: LogLevel, message: string, fields: LogFields = {}): void {
    this.#write(level, message, fields);
  }

  #write(level: LogLevel, message: string, fields: LogFields): void {
    if (!this.#log.isEnabled(level)) return;
    const values = Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? sanitize(value) : value,
    ]);
    this.#log.write(level, 'server', message, Object.fromEntries(values));
  }
}

const SECRETS = [
  // A word for a secret, and what it is set to.
  /((?:token|code|ticket|password|secret|api[-_]?key)["']?\s*(?:=|:|%3d|%3a)\s*)["']?[^\s&;,"'#]+/gi,
  /((?:cookie|authorization)["']?\s*[:=]\s*)[^\r\n]+/gi,
  /((?:bearer|basic)\s+)[^\s,;"']+/gi,
];

/** A text from outside that can stand in a log: no secret that gives itself away, nothing that a terminal obeys. */
export const sanitize = (text: string): string =>
  SECRETS.reduce((kept, secret) => kept.replace(secret, '$1…'), text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A path without what may be a secret in a wrong place: words as long as tokens are, unless they name a session. */
const redactLongWords = (path: string) => path.replace(/[\w~-]{32,}/g, (word) => (UUID.test(word) ? word : '…'));

/** Where something went wrong. Its words may quote anything. */
export function errorFields(error: unknown): LogFields {
  const { name, code, stack } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  return { error: name ?? typeof error, code, at: stack?.match(/^\s+at (.+)$/m)?.[1] };
}
