import { dirname, join } from 'node:path';
import { Refusal } from '../../protocol/errors.ts';
import { realPath } from '../../system/files/real-path.ts';
import { serverFolder } from '../agent-dir.ts';

/** The folder of the sessions that a node of a cluster has served: copies of their logs, which only its agents may open. */
export const clusterSessionsFolder = (agentDir: string): string => join(serverFolder(agentDir), 'cluster', 'sessions');

// The folder in any agent folder: the variable that names it differs between processes.
const ANY_CLUSTER_FOLDER = clusterSessionsFolder('/');

/** Rejects a session file of a cluster: what is written there without the cluster would be lost. */
export function refuseClusterFile(path: string): void {
  if (`${dirname(realPath(path))}/`.includes(`${ANY_CLUSTER_FOLDER}/`))
    throw new Refusal('session_in_use', 'Session belongs to a cluster: use tau attach');
}
