import type { ProcessRow } from '../../../src/system/processes/process-table.ts';
import { TAG_VARIABLE } from '../../../src/system/processes/process-table.ts';
import { agentsOf, signalTo, taggedDescendants, waitUntil } from '../processes/processes.ts';
import type { Target } from '../server/attack-target.ts';
import { type NodeOptions, startNode } from './cluster-nodes.ts';

let nodes = 0;

/** A node whose processes can be found, stopped and killed. */
export interface FaultyNode extends Target {
  readonly name: string;
  readonly agents: () => Promise<ProcessRow[]>;
  /** Kills the server, but not its agents. */
  readonly kill: () => void;
  /** Sends a signal to the server and to all its descendants. */
  readonly signalAll: (signal: NodeJS.Signals) => Promise<void>;
  /** Settles when neither the server nor a descendant of it runs. */
  readonly ended: () => Promise<void>;
}

/** Starts a node of this name; its processes are tagged. */
export async function startFaultyNode(urls: string, name: string, options: NodeOptions): Promise<FaultyNode> {
  const tag = `node-${process.pid}-${++nodes}-${Date.now()}`;
  const target = await startNode(urls, name, { ...options, env: { ...options.env, [TAG_VARIABLE]: tag } });
  return {
    ...target,
    name,
    agents: () => agentsOf(tag, target.pid),
    kill: () => void process.kill(target.pid, 'SIGKILL'),
    signalAll: async (signal) => {
      for (const row of await taggedDescendants(tag)) signalTo(row, signal);
    },
    ended: () => waitUntil(async () => (await taggedDescendants(tag)).length === 0),
  };
}
