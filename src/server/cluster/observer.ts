import type { NodeIdentity } from './names.ts';

/** The outcome of one try to append a record; one without an answer is repeated. */
export type AppendOutcome = 'stored' | 'unanswered' | 'conflict' | 'refused' | 'regressed';

/** Receives the changes in the life of a node that its operator may want to know. */
export interface ClusterObserver {
  onAppend?(outcome: AppendOutcome): void;
  /** A record is stored; `seconds` includes all its tries. */
  onStored?(seconds: number): void;
  /** `node` is the life that has begun, or that ended. */
  onLife?(change: 'begun' | 'lost' | 'regained' | 'ended', node: NodeIdentity): void;
  /** This node has claimed a session that another life of a node had: after its release, or because it was gone. */
  onTakeover?(sessionId: string, from: NodeIdentity, why: 'release' | 'gone'): void;
  /** Another owner has claimed a session of this node. */
  onDeposed?(sessionId: string, by: NodeIdentity): void;
  /** The log of a session lacks records that it acknowledged. */
  onRegressed?(sessionId: string): void;
  /** A message of another node is missing; its channel is closed. */
  onChannelGap?(from: NodeIdentity): void;
  onConnection?(isConnected: boolean): void;
}

/** Values of a node at one moment. */
export interface ClusterGauges {
  /** Since the last renewal that was answered. */
  readonly leaseAgeSeconds: number;
  /** Clients of this node in sessions that other nodes serve. */
  readonly remoteHandles: number;
  readonly isConnected: boolean;
  /** Other nodes whose settings or models are not those of this one. */
  readonly nodesWithOtherSettings: number;
}
