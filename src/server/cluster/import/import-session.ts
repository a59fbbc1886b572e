import { Refusal } from '../../../protocol/errors.ts';
import type { ClusterConnection } from '../connection.ts';
import { FencedLog } from '../log/fenced-log.ts';
import type { LogClaim, LogOwnership } from '../log/log-ownership.ts';
import type { NodeIdentity } from '../names.ts';
import { compareLog, type LogComparison } from './compare-log.ts';
import type { ImportIndex } from './import-index.ts';
import { LocalSession } from './local-session.ts';

// The longest record of several lines: a node joins the pieces of a record in memory.
const MAX_IMPORT_RECORD_BYTES = 16 * 1024 * 1024;

interface ImportOptions {
  readonly cluster: ClusterConnection;
  readonly identity: NodeIdentity;
  readonly ownership: LogOwnership;
  readonly index: ImportIndex;
  /** The node that has the folders of the sessions. */
  readonly node: string;
  /** Whether a session that the cluster has already is given to this node. */
  readonly movesPresent: boolean;
  /** Whether the cluster may have that node: it runs, or no node does. */
  readonly isNodeKnown: boolean;
  readonly onProgress: (stored: number, total: number) => void;
}

/**
 * The result for one file. `present`: the log held all of it before; `moved`: so it did, and the session is of another node
 * now. `empty`: it has no messages, and stays.
 */
export type ImportOutcome = 'imported' | 'present' | 'moved' | 'empty';

interface ImportResult {
  readonly outcome: ImportOutcome;
  /** The folder of the session. */
  readonly cwd: string;
}

/**
 * Moves a session file into the log of its session, and sets the file aside. The log gets the lines that it does not have;
 * a log or file with other lines is refused and stays as it is. An import that was interrupted is completed by the next.
 */
export async function importSession(path: string, options: ImportOptions): Promise<ImportResult> {
  const local = await LocalSession.open(path);
  try {
    const { cwd } = local.summary;
    if (local.summary.messageCount === 0) return { outcome: 'empty', cwd };
    const log = new FencedLog(options.cluster, local.id, options.identity);
    const before = await compareLog(log, (await log.readLast())?.seq ?? 0, local.bytes);
    checkSame(before, path);
    const isPresent = before.bytes >= local.bytes.length;
    const known = await options.index.find(local.id);
    // A session that has continued in the cluster stays with the node that continued it.
    const isMoved =
      options.movesPresent && before.bytes === local.bytes.length && known !== undefined && known.node !== options.node;
    if (isMoved && !options.isNodeKnown) throw unknownNode(options.node, path);
    if (!isPresent || !known || isMoved) await store(local, path, options);
    local.setAside();
    return { outcome: isPresent ? (isMoved ? 'moved' : 'present') : 'imported', cwd };
  } finally {
    await local.close();
  }
}

// A session that has a node must not lose it to a misspelled name.
const unknownNode = (node: string, path: string) =>
  new Refusal('invalid_params', `No running node is called ${node}: the session stays with its node: ${path}`);

/** Appends what the log does not have, and lists the session. */
async function store(local: LocalSession, path: string, options: ImportOptions): Promise<void> {
  const { ownership, index, node } = options;
  const claim = await ownership.claim(local.id);
  if (!claim) throw new Refusal('session_in_use', `Session is in use on a node of the cluster: ${path}`);
  try {
    // Another node may have had the session since the first comparison.
    const state = await compareLog(claim.log, claim.token, local.bytes);
    checkSame(state, path);
    await appendLines(claim, local.bytes, { from: state.bytes, onProgress: options.onProgress });
    await index.put({ ...local.summary, node });
  } catch (error) {
    if (claim.isFirst && !claim.lost.aborted) await claim.purge();
    throw error;
  } finally {
    await claim.release();
  }
}

function checkSame({ differentLine, isTrashed }: LogComparison, path: string): void {
  if (isTrashed) throw new Refusal('session_in_use', `Session is in the trash of the cluster: ${path}`);
  if (differentLine === undefined) return;
  const reason = `The cluster has another session with this id, different from line ${differentLine} on`;
  throw new Refusal('session_in_use', `${reason}: ${path}`);
}

async function appendLines(
  claim: LogClaim,
  lines: Buffer,
  { from, onProgress }: { from: number; onProgress: ImportOptions['onProgress'] },
): Promise<void> {
  for (let start = from; start < lines.length; ) {
    const end = endOfRecord(lines, start);
    await claim.append('entries', lines.subarray(start, end));
    start = end;
    onProgress(end, lines.length);
  }
}

const LF = 0x0a;

/** Behind the last line that fits into a record, or behind the first line if it is longer. */
function endOfRecord(lines: Buffer, start: number): number {
  const limit = start + MAX_IMPORT_RECORD_BYTES;
  if (limit >= lines.length) return lines.length;
  const last = lines.lastIndexOf(LF, limit - 1);
  const end = last >= start ? last : lines.indexOf(LF, limit);
  return end === -1 ? lines.length : end + 1;
}
