import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The state of a node that others need to know; it is part of the node's key. */
export interface NodeFacts {
  readonly version: string;
  /** Nodes of different numbers exchange no messages. */
  readonly protocol: number;
  /** Folders that are the same on every node that names them. */
  readonly shared: readonly string[];
  /** Whether it can make the folder of a session whose own node is away. */
  readonly prepares?: boolean;
  /** How many sessions it serves. */
  readonly agents: number;
  /** Whether it may serve one more. */
  readonly hasRoom: boolean;
  /** Whether it is shutting down. */
  readonly isDraining: boolean;
  /** The sessions that it serves, with their states. */
  readonly statuses: Readonly<Record<string, 'running' | 'waiting' | 'idle'>>;
  /** A digest of its settings and models: nodes of a cluster should have the same. */
  readonly settings: string;
}

// Bytes of the statuses: with them a key fits into a message of the NATS servers, which is 1 MiB at most.
const MAX_STATUS_BYTES = 512 * 1024;

// Bytes of a status beside the id of its session.
const STATUS_BYTES = '"":"running",'.length;

/** The states of sessions, as many as fit into the key of a node: those without work are left out first. */
export function statusesOf(
  sessions: readonly { readonly sessionId: string; readonly status: 'running' | 'waiting' | 'idle' }[],
): NodeFacts['statuses'] {
  const byWork = [...sessions].sort((one, other) => Number(one.status === 'idle') - Number(other.status === 'idle'));
  let bytes = 0;
  const fitting = byWork.filter(({ sessionId }) => {
    bytes += sessionId.length + STATUS_BYTES;
    return bytes <= MAX_STATUS_BYTES;
  });
  return Object.fromEntries(fitting.map(({ sessionId, status }) => [sessionId, status]));
}

/** The value of a node's key. */
export interface NodeKey extends NodeFacts {
  readonly incarnation: string;
}

const SETTINGS_FILES = ['settings.json', 'models.json'];

// Fields that may hold a secret, or refer to one.
const SECRET_FIELDS: ReadonlySet<string> = new Set(['apiKey', 'headers']);

/** A digest of the settings and models of a node, without keys: equal for nodes that behave the same. */
export function settingsDigest(agentDir: string): string {
  const hash = createHash('sha256');
  for (const name of SETTINGS_FILES) hash.update(`${name} ${contentOf(join(agentDir, name))} `);
  return hash.digest('hex').slice(0, 12);
}

/** The content without secrets; a file that is missing or malformed counts as its text. */
function contentOf(path: string): string {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
    return JSON.stringify(JSON.parse(text), (key, value: unknown) => (SECRET_FIELDS.has(key) ? undefined : value));
  } catch {
    return text === '' ? '' : 'malformed';
  }
}
