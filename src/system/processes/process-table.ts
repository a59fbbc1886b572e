import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A live process other than this one, from /proc or `ps`. Pid and start time identify it; a pid alone is reused. */
export interface ProcessRow {
  readonly pid: number;
  /** 0 without /proc. */
  readonly parent: number;
  readonly group: number;
  readonly session: number | undefined;
  readonly startedAt: string;
  /** The value of `TAG_VARIABLE` at the start of the program; Linux only. */
  readonly tag: string | undefined;
}

/** The environment variable that tags every process an agent starts. */
export const TAG_VARIABLE = 'TAU_AGENT_MARK';

const SCAN_BATCH = 200;

/** Lists the live processes; on Linux only those not older than this one, which include every descendant. */
export const listProcesses = (): Promise<ProcessRow[]> => (process.platform === 'linux' ? scanProc() : listByPs());

/** Lists the live processes of any age with a tag; Linux only. */
export async function taggedProcesses(): Promise<{ readonly pid: number; readonly tag: string }[]> {
  const found: { pid: number; tag: string }[] = [];
  for (const [index, pid] of pidsInProc().entries()) {
    if (index % SCAN_BATCH === SCAN_BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const tag = readTag(pid);
    if (tag !== undefined && readStat(pid)) found.push({ pid, tag });
  }
  return found;
}

/** Whether a row of `listProcesses` is still the same live process; always true outside Linux. */
export const isSameProcess = ({ pid, startedAt }: ProcessRow): boolean =>
  process.platform !== 'linux' || readStat(pid)?.startedAt === startedAt;

async function scanProc(): Promise<ProcessRow[]> {
  const oldest = Number(readStat(process.pid)?.startedAt ?? 0);
  const rows: ProcessRow[] = [];
  for (const [index, pid] of pidsInProc().entries()) {
    if (index % SCAN_BATCH === SCAN_BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const stat = pid === process.pid ? undefined : readStat(pid);
    if (stat && Number(stat.startedAt) >= oldest) rows.push({ ...stat, tag: readTag(pid) });
  }
  return rows;
}

/** Empty where /proc is not mounted: then only the group of a running leader can be killed. */
function pidsInProc(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

/** The start time of a live process, as in its row; undefined without /proc. */
export const startTimeOf = (pid: number): string | undefined => readStat(pid)?.startedAt;

function readStat(pid: number): Omit<ProcessRow, 'tag'> | undefined {
  const text = readProc(pid, 'stat');
  // The program's name comes first, in parentheses, and may itself contain spaces and parentheses.
  const [state, parent, group, session, ...rest] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const startedAt = rest[15];
  if (startedAt === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, parent: Number(parent), group: Number(group), session: Number(session), startedAt };
}

function readTag(pid: number): string | undefined {
  const prefix = `${TAG_VARIABLE}=`;
  const entry = readProc(pid, 'environ')
    ?.split('\0')
    .find((pair) => pair.startsWith(prefix));
  return entry?.slice(prefix.length);
}

/** Undefined when the process has exited or belongs to another user. */
function readProc(pid: number, file: 'stat' | 'environ'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** Lists the live processes with `ps`, for systems without /proc. */
export function listByPs(): Promise<ProcessRow[]> {
  const columns = ['-o', 'pid=', '-o', 'pgid=', '-o', 'stat=', '-o', 'lstart='];
  return new Promise((resolve) => {
    execFile('ps', ['-A', ...columns], { maxBuffer: Number.POSITIVE_INFINITY }, (_error, stdout) => {
      resolve(stdout.split('\n').flatMap(parsePsLine));
    });
  });
}

function parsePsLine(line: string): ProcessRow[] {
  const [, pid, group, state, startedAt] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line) ?? [];
  if (startedAt === undefined || state?.startsWith('Z') || Number(pid) === process.pid) return [];
  return [{ pid: Number(pid), parent: 0, group: Number(group), session: undefined, startedAt, tag: undefined }];
}
