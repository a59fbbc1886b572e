import { release } from 'node:os';
import { version } from '../../protocol/generated/version.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { PROTOCOL_VERSION } from '../../protocol/protocol-version.ts';
import { fine, problem } from './finding.ts';

// The oldest supported Node.
const OLDEST_NODE = [20, 19] as const;

/** Reports the versions of tau, Node and the system. */
export function versionFindings(): readonly Finding[] {
  return [
    fine('tau', `${version}, protocol ${PROTOCOL_VERSION}`),
    nodeFinding(process.versions.node),
    fine('system', `${process.platform} ${release()}, ${process.arch}`),
  ];
}

export function nodeFinding(node: string): Finding {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_NODE;
  const isNewEnough = major > oldestMajor || (major === oldestMajor && minor >= oldestMinor);
  if (isNewEnough) return fine('node', node);
  return problem('node', `${node} is older than ${OLDEST_NODE.join('.')}. Install a newer Node`);
}
