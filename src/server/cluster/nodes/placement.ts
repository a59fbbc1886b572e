import { Refusal } from '../../../protocol/errors.ts';
import { isPathInside } from '../../../system/files/path-inside.ts';
import type { LocalSessions } from '../../hosting/local-sessions.ts';
import type { SessionTarget } from '../../sessions.ts';
import type { ClusterIndex } from '../cluster-index.ts';
import type { LogOwnership } from '../log/log-ownership.ts';
import { CLUSTER_PROTOCOL, type NodeIdentity } from '../names.ts';
import type { KnownNode, NodeDirectory } from './node-directory.ts';
import type { NodeLease } from './node-lease.ts';
import type { WorkspacePreparation } from './prepare-workspace.ts';

interface PlacementOptions {
  readonly local: Pick<LocalSessions, 'has' | 'hasRoom' | 'isDraining'>;
  readonly ownership: Pick<LogOwnership, 'positionOf'>;
  readonly directory: Pick<NodeDirectory, 'all' | 'get'>;
  readonly index: Pick<ClusterIndex, 'find'>;
  readonly lease: Pick<NodeLease, 'identity' | 'isGone'>;
  /** Folders that are the same on every node that names them. */
  readonly shared: readonly string[];
  readonly preparation: WorkspacePreparation | undefined;
}

/** The node that serves a session. */
export interface Place {
  /** Undefined for this node. */
  readonly node: NodeIdentity | undefined;
  /** Whether that node makes the folder of the session first. */
  readonly isPrepared: boolean;
}

/**
 * Decides which node serves a session: the one that owns it; else this one, if the session's folder is here and there is
 * room; else another node with the folder. A folder that is not shared is on the node that had the session last.
 */
export class Placement {
  readonly #options: PlacementOptions;

  constructor(options: PlacementOptions) {
    this.#options = options;
  }

  /** The node that serves the session, or should. Nodes in `full` have refused it. */
  async find(target: SessionTarget, full: ReadonlySet<string> = new Set()): Promise<Place> {
    const { local, ownership, lease } = this.#options;
    if (local.has(target.id)) return HERE;
    const { owner, lastNode } = await ownership.positionOf(target.id);
    if (owner) return elsewhere(this.#compatible(owner));
    if (local.has(target.id)) return HERE;
    const home = await this.#homeOf(target, lastNode);
    const isHere = home === lease.identity.name || this.#isShared(target.cwd);
    if (isHere && this.#canServe(full)) return HERE;
    const other = await this.#otherNode(full, (node) => hasFolder(node, { home, cwd: target.cwd }));
    if (other) return elsewhere(other);
    // Without another node, this one refuses the session with its own reason.
    if (isHere) return HERE;
    if (this.#options.preparation && this.#canServe(full)) return { node: undefined, isPrepared: true };
    const preparing = await this.#otherNode(full, ({ prepares, hasRoom }) => prepares === true && hasRoom);
    if (preparing) return { node: preparing, isPrepared: true };
    throw new Refusal('session_in_use', `Its folder is on node ${home}, which is away: ${target.id}`);
  }

  /** Makes the folder of a session on this node, unless it is open here. */
  async prepare(target: SessionTarget): Promise<void> {
    const { local, preparation } = this.#options;
    if (!local.has(target.id)) await preparation?.run(target);
  }

  /** The node whose folder the session is in. */
  async #homeOf(target: SessionTarget, lastNode: string | undefined): Promise<string> {
    const { index, ownership, local, lease } = this.#options;
    const known = index.find(target.id)?.node ?? lastNode;
    if (known !== undefined) return known;
    const beside = target.kind === 'new' ? target.beside : undefined;
    if (beside === undefined || local.has(beside)) return lease.identity.name;
    const position = await ownership.positionOf(beside);
    return position.owner?.name ?? index.find(beside)?.node ?? position.lastNode ?? lease.identity.name;
  }

  #isShared(cwd: string): boolean {
    return this.#options.shared.some((root) => isPathInside(root, cwd));
  }

  #canServe(full: ReadonlySet<string>): boolean {
    const { local, lease } = this.#options;
    return local.hasRoom && !local.isDraining && !full.has(lease.identity.name);
  }

  /** The living node with the fewest agents that is suitable. Full ones are last: they refuse with their own reason. */
  async #otherNode(
    full: ReadonlySet<string>,
    isSuitable: (node: KnownNode) => boolean,
  ): Promise<NodeIdentity | undefined> {
    const { directory, lease } = this.#options;
    const candidates = directory.all
      .filter((node) => node.name !== lease.identity.name && !node.isDraining && !full.has(node.name))
      .filter((node) => node.protocol === CLUSTER_PROTOCOL && isSuitable(node))
      .sort((one, other) => Number(other.hasRoom) - Number(one.hasRoom) || one.agents - other.agents);
    for (const { name, incarnation } of candidates) {
      const node = { name, incarnation };
      if (!(await lease.isGone(node))) return node;
    }
    return undefined;
  }

  #compatible(node: NodeIdentity): NodeIdentity {
    const { protocol = CLUSTER_PROTOCOL, version } = this.#options.directory.get(node.name) ?? {};
    if (protocol === CLUSTER_PROTOCOL) return node;
    const reason = `Node ${node.name} serves the session with another version of tau: ${version}`;
    throw new Refusal('overloaded', reason);
  }
}

const HERE: Place = { node: undefined, isPrepared: false };

const elsewhere = (node: NodeIdentity): Place => ({ node, isPrepared: false });

/** Whether a node has the folder of a session, whose own node is `home`. */
export const hasFolder = (
  { name, shared }: Pick<KnownNode, 'name' | 'shared'>,
  { home, cwd }: { readonly home: string; readonly cwd: string },
): boolean => name === home || isBelowAny(shared, cwd);

/** Whether a path is below a folder of another machine, by its name. */
const isBelowAny = (roots: readonly string[], path: string) =>
  roots.some((root) => path === root || path.startsWith(`${root.replace(/\/$/, '')}/`));
