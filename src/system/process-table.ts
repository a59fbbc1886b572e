import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** A living process other than this one. Pid and start time together name it for good; a pid alone is used again. */
export interface ProcessRow {
  readonly pid: number;
  readonly group: number;
  readonly session: number | undefined;
  readonly startedAt: string;
  /** What its environment said under `MARK` when the program was started; Linux only. */
  readonly tag: string | undefined;
}

/** The environment variable that marks what an agent started. */
export const TAG_VARIABLE = 'TAU_AGENT_MARK';

const SCAN_BATCH = 200;

/** The living processes, on Linux only those not older than this one: no descendant is missing. */
export const listProcesses = (): Promise<ProcessRow[]> => (process.platform === 'linux' ? scanProc() : listByPs());

/** The living processes of any age that carry a mark; Linux only. */
export async function taggedProcesses(): Promise<{ readonly pid: number; readonly tag: string }[]> {
  const found: { pid: number; mark: string }[] = [];
  for (const [index, pid] of pidsInProc().entries()) {
    if (index % SCAN_BATCH === SCAN_BATCH - 1) await new Promise((resolve) => setImmediate(resolve));
    const mark = readTag(pid);
    if (mark !== undefined && readStat(pid)) found.push({ pid, mark });
  }
  return found;
}

/** Whether a row of `listProcesses` still stands for the same living process; taken on trust outside Linux. */
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

/** Empty where /proc is not mounted: then only a running leader's group can be reached. */
function pidsInProc(): number[] {
  try {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

function readStat(pid: number): Omit<ProcessRow, 'mark'> | undefined {
  const text = readProc(pid, 'stat');
  // The program's name comes first, in parentheses, and may itself contain spaces and parentheses.
  const [state, , group, session, ...rest] = text?.slice(text.lastIndexOf(')') + 2).split(' ') ?? [];
  const startedAt = rest[15];
  if (startedAt === undefined || state === 'Z' || state === 'X') return undefined;
  return { pid, group: Number(group), session: Number(session), startedAt };
}

function readTag(pid: number): string | undefined {
  const prefix = `${TAG_VARIABLE}=`;
  const entry = readProc(pid, 'environ')
    ?.split('\0')
    .find((pair) => pair.startsWith(prefix));
  return entry?.slice(prefix.length);
}

/** Undefined when the process has gone, or is another user's. */
function readProc(pid: number, file: 'stat' | 'environ'): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}

/** The same from `ps`, for systems without /proc. */
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
  return [{ pid: Number(pid), group: Number(group), session: undefined, startedAt, tag: undefined }];
}
