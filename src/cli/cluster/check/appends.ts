import { fine, problem, warning } from '../../../engine/diagnosis/finding.ts';
import type { Finding } from '../../../protocol/generated/vocabulary.ts';
import { type ClusterConnection, clusterErrorText } from '../../../server/cluster/connection.ts';
import { FencedLog } from '../../../server/cluster/log/fenced-log.ts';
import { NotOwner } from '../../../server/hosting/storage/journal.ts';
import { newUuid } from '../../../store/sessions/random-id.ts';

// No session can have this id, because ids begin with a letter or a digit. A log of it that a crash left holds no
// entries, and the next check removes it.
const SCRATCH_ID = '_check';

const APPENDS = 20;

// A record about as long as an entry.
const RECORD_BYTES = 500;

// A cluster that elects a leader meanwhile needs up to 9 s.
const CHECK_APPENDS_MS = 15_000;

/** Appends a few records to a log that is removed afterwards, each behind the record before it, as nodes do. */
export async function checkAppends(connection: ClusterConnection): Promise<Finding> {
  const deadline = performance.now() + CHECK_APPENDS_MS;
  const isGivenUp = () => performance.now() > deadline;
  const log = new FencedLog(connection, SCRATCH_ID, { name: 'check', incarnation: newUuid() }, { isGivenUp });
  try {
    if (!(await log.claim(await log.readLast()))) throw new NotOwner();
    const times: number[] = [];
    for (let count = 0; count < APPENDS; count++) {
      const startedAt = performance.now();
      await log.append('mark', Buffer.alloc(RECORD_BYTES));
      times.push(performance.now() - startedAt);
    }
    await log.purge();
    times.sort((one, other) => one - other);
    const [median = 0, slowest = 0] = [times[APPENDS / 2], times.at(-1)];
    return fine('appends', `${median.toFixed(1)} ms, the slowest of ${APPENDS} ${slowest.toFixed(1)} ms`);
  } catch (error) {
    if (!(error instanceof NotOwner)) return problem('appends', clusterErrorText(error));
    if (isGivenUp()) return problem('appends', `The log accepts no records within ${CHECK_APPENDS_MS / 1000} s`);
    return warning('appends', 'Another check is running');
  }
}
