import { closeSync, constants, fstatSync, openSync, renameSync, statSync, writeSync } from 'node:fs';

/** From the gravest to the least: a log takes its own level and those before it. */
export const logLevels = ['error', 'warn', 'info', 'debug'] as const;

export type LogLevel = (typeof logLevels)[number];

/** Facts about an event: sizes, times, names. Never what somebody said or keeps secret. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** Takes one line per event. */
export interface Log {
  /** Whether anything of this level is taken: for what is costly to find out. */
  isEnabled(level: LogLevel): boolean;
  write(level: LogLevel, area: string, message: string, fields?: LogFields): void;
}

/** When a log file has grown to this, it is set aside as `<path>.1`, in place of the one before. */
const MAX_LOG_FILE_BYTES = 10 * 1024 * 1024;
/** A value longer than this is cut. */
const MAX_VALUE_CHARACTERS = 300;

export interface LogOptions {
  readonly level: LogLevel;
  /** Without one the log goes to stderr. JSON lines if its name ends in `.jsonl`. */
  readonly file?: string | undefined;
  readonly maxBytes?: number;
}

/** Opens a log. Throws when the file cannot be opened; from then on nothing that happens to it is anybody's problem. */
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
  return `${time} ${level.padEnd(5)} ${area} ${message}${values.join('')}\n`;
}

const cut = (text: string) => (text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text);

/** As it is where that is one word, else quoted: an event stays on its line. */
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
      // A full disk costs this line; a file that cannot be opened again ends the log.
    }
  };
}

/** Sets a full file aside, unless somebody else has done so already: what has its name now is another one. */
function rotate(path: string, fd: number): void {
  const { dev, ino } = fstatSync(fd);
  closeSync(fd);
  const now = statSync(path, { throwIfNoEntry: false });
  if (now?.dev === dev && now.ino === ino) renameSync(path, `${path}.1`);
}

/** A FIFO that nobody reads is refused at once instead of waited for. */
const openForAppend = (path: string) =>
  openSync(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK, 0o600);

/** Undefined for what is no file and cannot be set aside, such as a device. */
function sizeOf(fd: number): number | undefined {
  const stats = fstatSync(fd);
  return stats.isFile() ? stats.size : undefined;
}
