import { clusterAttach } from './cluster/attach.mjs';
import { clusterElection } from './cluster/election.mjs';
import { clusterFanOut } from './cluster/fan-out.mjs';
import { clusterImage } from './cluster/image.mjs';
import { clusterList, clusterListMany } from './cluster/list.mjs';
import { clusterMany } from './cluster/many.mjs';
import { clusterParked } from './cluster/parked.mjs';
import { clusterPrompt } from './cluster/prompt.mjs';
import { clusterStart } from './cluster/start.mjs';
import { clusterTakeover } from './cluster/takeover.mjs';
import { clusterToolTurn } from './cluster/tool-turn.mjs';
import { clusterWake } from './cluster/wake.mjs';

const benchmarks = [
  ...[clusterPrompt, clusterToolTurn, clusterAttach, clusterWake, clusterMany, clusterFanOut, clusterList],
  ...[clusterListMany, clusterStart, clusterParked, clusterImage, clusterTakeover],
];

/** All benchmarks of a cluster whose NATS servers hold this many copies of each record. */
export const clusterBenchmarks = (replicas) =>
  [...benchmarks, ...(replicas === 1 ? [] : [clusterElection])].map((benchmark) => benchmark(replicas));
