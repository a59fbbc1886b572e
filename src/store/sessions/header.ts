import { closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { Refusal } from '../../protocol/errors.ts';
import type { SessionHeader } from '../../protocol/generated/vocabulary.ts';
import { newUuid } from './random-id.ts';

/** The version of the session format that tau writes: pi's. */
export const CURRENT_VERSION = 3;

// A longer first line is not a session header.
const MAX_HEADER_BYTES = 64 * 1024;

const LF = 0x0a;

export interface NewHeader {
  readonly cwd: string;
  readonly id?: string | undefined;
  readonly parentSession?: string | undefined;
}

/** Whether a new session may have this id, which becomes part of its file name. */
export const isSessionId = (id: string) => /^[A-Za-z0-9]([\w-]{0,126}[A-Za-z0-9])?$/.test(id);

/** The header of a new session. Rejects ids that could lead out of a folder, since they name files. */
export function newHeader({ cwd, id = newUuid(), parentSession }: NewHeader): SessionHeader {
  if (!isSessionId(id)) throw new Refusal('invalid_params', `Not a session id: ${id}`);
  const header = { type: 'session', version: CURRENT_VERSION, id, timestamp: new Date().toISOString(), cwd } as const;
  return parentSession === undefined ? header : { ...header, parentSession };
}

/** The file name of a session: its start time and its id. */
export const sessionFileName = (id: string, at: Date) => `${at.toISOString().replace(/[:.]/g, '-')}_${id}.jsonl`;

export const notASession = (path: string) => new Refusal('not_a_session', `Not a session file: ${path}`);

/** Parses a header line; undefined for any other line. */
function parseHeader(line: string): SessionHeader | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== 'object' || value === null) return undefined;
    const { type, id, cwd, timestamp } = value as Partial<Record<keyof SessionHeader, unknown>>;
    if (type !== 'session' || typeof id !== 'string') return undefined;
    const text = (field: unknown) => (typeof field === 'string' ? field : '');
    // No path can hold a NUL: such a folder counts as missing.
    return { ...value, type, id, cwd: text(cwd).includes('\0') ? '' : text(cwd), timestamp: text(timestamp) };
  } catch {
    return undefined;
  }
}

/** Reads the header of an open file; undefined when there is none or the file cannot be read. */
export function readHeader(fd: number): SessionHeader | undefined {
  const bytes = Buffer.allocUnsafe(MAX_HEADER_BYTES);
  let filled: number;
  try {
    filled = readSync(fd, bytes, 0, MAX_HEADER_BYTES, 0);
  } catch {
    return undefined;
  }
  const end = bytes.subarray(0, filled).indexOf(LF);
  if (end === -1 && filled === MAX_HEADER_BYTES) return undefined;
  return parseHeader(bytes.toString('utf8', 0, end === -1 ? filled : end));
}

/** The header of a session file. A pipe or a device is not opened. */
export function headerOf(path: string): SessionHeader | 'missing' | 'foreign' {
  let fd: number | undefined;
  try {
    const stats = path.includes('\0') ? undefined : statSync(path, { throwIfNoEntry: false });
    if (!stats) return 'missing';
    if (!stats.isFile()) return 'foreign';
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return readHeader(fd) ?? 'foreign';
  } catch {
    return 'missing';
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
