import { readFileSync } from 'node:fs';
import { startTarget, type Target, type TargetOptions } from '../server/attack-target.ts';

/** Arguments of commands and servers that use a single NATS server. */
export const ONE_REPLICA: readonly string[] = ['--cluster-replicas', '1'];

export interface NodeOptions extends TargetOptions {
  /** The folder of new sessions. */
  readonly cwd: string;
  /** Folders that are the same on all nodes; by default the folder of new sessions. */
  readonly shared?: readonly string[];
}

/** Starts `tau serve --cluster` with this name, as a node with an agent folder of its own. It ends with the test. */
export function startNode(
  urls: string,
  name: string,
  { cwd, shared = [cwd], args = [], ...options }: NodeOptions,
): Promise<Target> {
  const folders = ['--cwd', cwd, ...shared.flatMap((folder) => ['--shared', folder])];
  return startTarget({
    script: [{ text: 'hello', when: '.', keep: true }],
    ...options,
    args: ['--cluster', urls, '--node', name, ...folders, ...args],
  });
}

/** The running agents of a node, by the id of their process. */
export function agentsOf({ pid }: Target): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.filter((child) => {
    try {
      return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('\0--mode\0rpc\0');
    } catch {
      return false;
    }
  });
}
