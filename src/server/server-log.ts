import type { Log, LogFields, LogLevel } from '../system/log.ts';
import type { AgentActivity } from './hosting/agent/hosted-agent.ts';

export interface AccessRecord {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly address: string;
  readonly grant: string | undefined;
}

/** The log of the server. A line contains no secret and no line break. */
export class ServerLog {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Logs a completed request; health probes only at `debug`. */
  access({ path, ...rest }: AccessRecord, { isProbe = false } = {}): void {
    this.#write(isProbe ? 'debug' : 'info', 'answered', { ...rest, path: redactLongWords(path) });
  }

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
  // A name for a secret with its value.
  /((?:token|code|ticket|password|secret|api[-_]?key)["']?\s*(?:=|:|%3d|%3a)\s*)["']?[^\s&;,"'#]+/gi,
  /((?:cookie|authorization)["']?\s*[:=]\s*)[^\r\n]+/gi,
  /((?:bearer|basic)\s+)[^\s,;"']+/gi,
];

/** Makes foreign text safe for a log: without recognisable secrets and control characters. */
export const sanitize = (text: string): string =>
  SECRETS.reduce((kept, secret) => kept.replace(secret, '$1…'), text).replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Removes words as long as tokens, which may be secrets in a wrong place, except session ids. */
const redactLongWords = (path: string) => path.replace(/[\w~-]{32,}/g, (word) => (UUID.test(word) ? word : '…'));

/** The type and location of an error, without its message, which may quote anything. */
export function errorFields(error: unknown): LogFields {
  const { name, code, stack } = (error instanceof Error ? error : {}) as NodeJS.ErrnoException;
  return { error: name ?? typeof error, code, at: stack?.match(/^\s+at (.+)$/m)?.[1] };
}

/**
 * Logs what an agent printed to stderr, failures of its extensions and MCP servers, and the end of its runs, with its
 * session and process id.
 *
 * Lines of tau are warnings. Other output, of extensions and of programs that they start, and the log lines of the
 * agent itself are logged at `debug` only.
 */
export function logActivity(log: ServerLog, sessionId: string, { pid, ...activity }: AgentActivity): void {
  switch (activity.kind) {
    case 'stderr': {
      const [, message] = /^tau: (.+)$/.exec(activity.line) ?? [];
      if (message === undefined) log.event('debug', 'agent printed', { sessionId, pid, line: activity.line });
      else log.event('warn', 'agent warned', { sessionId, pid, warning: message });
      return;
    }
    case 'failure':
      log.event('warn', 'agent reported', { sessionId, pid, failure: activity.line });
      return;
    case 'omitted':
      log.event('warn', 'agent printed too much', { sessionId, pid, omittedLines: activity.lines });
      return;
    case 'run': {
      const { runId, outcome, errorCode } = activity.event;
      const level = errorCode === 'storage_failed' || errorCode === 'internal' ? 'error' : 'info';
      log.event(level, 'run settled', { sessionId, pid, runId, outcome, code: errorCode });
    }
  }
}
