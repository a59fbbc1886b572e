import type { ClusterConnection } from '../../../src/server/cluster/connection.ts';
import { FencedLog } from '../../../src/server/cluster/log/fenced-log.ts';
import { RecordJoiner } from '../../../src/server/cluster/log/log-record.ts';

/** The bytes of all entries in the log of a session: the file that a node makes from it. */
export async function readLogLines(connection: ClusterConnection, sessionId: string): Promise<Buffer> {
  const log = new FencedLog(connection, sessionId, { name: 'audit', incarnation: '1' });
  const joiner = new RecordJoiner();
  const parts: Uint8Array[] = [];
  for await (const message of log.read(0, (await log.readLast())?.seq ?? 0)) {
    const record = joiner.add(message);
    if (record?.kind === 'entries') parts.push(record.data);
  }
  return Buffer.concat(parts);
}
