import { it } from 'vitest';
import { newHome } from '../../support/agent/test-agent.ts';
import { ONE_REPLICA } from '../../support/cluster/cluster-nodes.ts';
import { DisturbedNode } from '../../support/cluster/disturbed-node.ts';
import { FAULT_SCRIPT, FaultScenario } from '../../support/cluster/fault-scenario.ts';
import { nodeFaults } from '../../support/cluster/node-faults.ts';
import { testCluster } from '../../support/cluster/test-cluster.ts';
import { randomFrom } from '../../support/random.ts';

const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const ROUNDS = 4;
const KEY_LIFE_MS = 4000;

const cluster = testCluster({ keyLifeMs: KEY_LIFE_MS });

it(`[W179] after random faults of nodes nothing acknowledged is lost or doubled, and all views are equal (FAULT_SEED=${SEED})`, async () => {
  const random = randomFrom(SEED);
  const servers = [cluster.server.url];
  const args = [...ONE_REPLICA, '--ping-seconds', '1', '--drain-seconds', '1'];
  const options = { servers, cwd: newHome().cwd, script: FAULT_SCRIPT, args };
  const nodes = await Promise.all(['a', 'b', 'c'].map((name) => DisturbedNode.start(name, options)));
  const scenario = new FaultScenario({ nodes, servers, faults: nodeFaults(nodes, KEY_LIFE_MS), random });

  for (let round = 1; round <= ROUNDS; round++) await scenario.runRound(round);

  await scenario.check();
}, 300_000);
