import { closeSync, constants, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs';
import { terminalText } from './terminal-text.ts';

/** In order of severity: a log writes its own level and the ones before it. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof logLevels)[number];

/** Facts about an event: sizes, times, names. Never message text or secrets. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** A log that writes one line per event, to stderr or to a rotating file. */
export interface Log {
  /** Whether this level is written: for fields that are costly to compute. */
  isEnabled(level: LogLevel): boolean;
  write(level: LogLevel, area: string, message: string, fields?: LogFields): void;
}

// A larger log file is renamed to `<path>.1` and replaces the one before.
const MAX_LOG_FILE_BYTES = 10 * 1024 * 1024;
const MAX_VALUE_CHARACTERS = 300;

export interface LogOptions {
  readonly level: LogLevel;
  /** Absent: stderr. JSON lines if the name ends in `.jsonl`. */
  readonly file?: string | undefined;
  readonly maxBytes?: number;
}

/** Opens a log. Throws when the file cannot be opened; later failures are ignored. */
export function openLog({ level, file, maxBytes = MAX_LOG_FILE_BYTES }: LogOptions): Log {
  const sink = file === undefined ? (line: string) => void process.stderr.write(line) : fileSink(file, maxBytes);
  const format = file?.endsWith('.jsonl') ? jsonLine : plainLine;
  const threshold = logLevels.indexOf(level);
  const isEnabled = (candidate: LogLevel) => logLevels.indexOf(candidate) <= threshold;
  return {
    isEnabled,
    write: (at, area, message, fields = {}) => {
      if (isEnabled(at)) sink(format({ time: new Date().toISOString(), level: at, area, message }, fields));
    },
  };
}

interface LogEvent {
  readonly time: string;
  readonly level: LogLevel;
  readonly area: string;
  readonly message: string;
}

const jsonLine = (event: LogEvent, fields: LogFields) => {
  const values = Object.entries(fields).map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]);
  return `${JSON.stringify({ ...event, ...Object.fromEntries(values) })}\n`;
};

function plainLine({ time, level, area, message }: LogEvent, fields: LogFields): string {
  const values = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quoteIfNeeded(cut(String(value)))}`);
  return `${terminalText(`${time} ${level.padEnd(5)} ${area} ${message}${values.join('')}`)}\n`;
}

const cut = (text: string) => (text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text);

/** Quotes everything but a single word: an event stays on its line. */
const quoteIfNeeded = (text: string) => (/^[^\s"=\p{Cc}]+$/u.test(text) ? text : JSON.stringify(text));

function fileSink(path: string, maxBytes: number): (line: string) => void {
  let fd: number | undefined = openForAppend(path);
  let size = sizeOf(fd);
  return (line) => {
    if (fd === undefined) return;
    try {
      const bytes = Buffer.from(line);
      if (size !== undefined && size > 0 && size + bytes.length > maxBytes) {
        const full = fd;
        fd = undefined;
        rotate(path, full);
        fd = openForAppend(path);
        size = sizeOf(fd);
      }
      writeSync(fd, bytes);
      if (size !== undefined) size = sizeOf(fd);
    } catch {
      // A full disk loses this line; a file that cannot be reopened ends the log.
    }
  };
}

/** Renames a full file, unless another process did: then the path already names another file. */
function rotate(path: string, fd: number): void {
  const { dev, ino } = fstatSync(fd);
  closeSync(fd);
  const now = statSync(path, { throwIfNoEntry: false });
  if (now?.dev === dev && now.ino === ino) renameSync(path, `${path}.1`);
}

/** A FIFO without a reader fails at once instead of blocking. */
const openForAppend = (path: string) =>
  openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, 0o600);

/** Undefined for anything that cannot be rotated, such as a device. */
function sizeOf(fd: number): number | undefined {
  const stats = fstatSync(fd);
  return stats.isFile() ? stats.size : undefined;
}
