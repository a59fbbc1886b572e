import { readlinkSync } from 'node:fs';
import type { ProcessRow } from './process-table.ts';

/** A PID namespace that several commands share; its processes are visible outside. */
export interface ProcessCell {
  /** The link target of `/proc/PID/ns/pid`. */
  readonly namespace: string;
  /** Pid of the first process, as seen outside. The kernel makes it the parent of every orphan inside. */
  readonly init: number;
}

/** A command in a cell. */
export interface CellCommand {
  readonly cell: ProcessCell;
  /** The first process of the command, by pid and start time. */
  readonly leader: Pick<ProcessRow, 'pid' | 'startedAt'>;
  /** Whether a tag is one of this process's commands. */
  readonly isKnownTag: (tag: string) => boolean;
}

/**
 * The processes of a cell that may be escapees of a command: started since, without a tag, and not below a process
 * that is tagged or older.
 *
 * A process that cleared its environment and lost its parents cannot be attributed. If two commands run at once, such
 * a process of the other one is also found.
 */
export function findEscapees(rows: readonly ProcessRow[], command: CellCommand): ProcessRow[] {
  const byPid = new Map(rows.map((row) => [row.pid, row]));
  return rows.filter((row) => isEscapee(row, command, byPid));
}

function isEscapee(row: ProcessRow, command: CellCommand, byPid: ReadonlyMap<number, ProcessRow>): boolean {
  const { cell } = command;
  // Bounded: the rows were not read at one moment, so that reused pids could form a circle.
  const seen = new Set<number>();
  for (let current = row; !seen.has(current.pid); ) {
    if (current.pid === cell.init || isSpared(current, command)) return false;
    seen.add(current.pid);
    const parent = byPid.get(current.parent);
    if (current.parent === cell.init) return true;
    // The parent died while the rows were read: the next pass finds the orphan below its new parent.
    if (!parent) return isInNamespace(row, cell);
    current = parent;
  }
  return false;
}

const isSpared = (row: ProcessRow, { leader, isKnownTag }: CellCommand) =>
  isOlder(row, leader) || (row.tag !== undefined && isKnownTag(row.tag));

/** Start times are rounded to 10 ms; pids are given in order. */
const isOlder = (row: ProcessRow, { pid, startedAt }: CellCommand['leader']) =>
  row.startedAt === startedAt ? row.pid < pid : Number(row.startedAt) < Number(startedAt);

function isInNamespace({ pid }: ProcessRow, { namespace }: ProcessCell): boolean {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`) === namespace;
  } catch {
    return false;
  }
}
