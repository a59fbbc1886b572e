import { afterAll, beforeAll, expect, it } from 'vitest';
import { newHome } from '../support/agent/test-agent.ts';
import { DisturbedNode } from '../support/cluster/disturbed-node.ts';
import { FAULT_SCRIPT, FaultScenario } from '../support/cluster/fault-scenario.ts';
import { NatsCluster } from '../support/cluster/nats-cluster.ts';
import { nodeFaults, serverFaults } from '../support/cluster/node-faults.ts';
import { runTau } from '../support/processes/program.ts';
import { randomFrom } from '../support/random.ts';

const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const ROUNDS = Number(process.env['FAULT_ROUNDS'] ?? (process.env['SOAK'] ? 300 : 1));

// Rounds between two checks, for each of which all runs have to end.
const ROUNDS_PER_CHECK = 20;

// Short, so that leases end within a round.
const KEY_LIFE_MS = 5000;

const MINUTE_MS = 60_000;

let cluster: NatsCluster;

beforeAll(async () => {
  cluster = await NatsCluster.start(KEY_LIFE_MS);
}, 4 * MINUTE_MS);

afterAll(() => cluster.stop());

it(
  `[W179] after ${ROUNDS} faults of nodes and servers nothing acknowledged is lost or doubled, and all views are equal (FAULT_SEED=${SEED})`,
  async () => {
    const random = randomFrom(SEED);
    const { cwd } = newHome();
    const args = ['--ping-seconds', '1', '--drain-seconds', '1'];
    const options = { servers: cluster.urls, cwd, script: FAULT_SCRIPT, args };
    const nodes = await Promise.all(['a', 'b', 'c'].map((name) => DisturbedNode.start(name, options)));
    const faults = [...nodeFaults(nodes, KEY_LIFE_MS), ...serverFaults(cluster)];
    const scenario = new FaultScenario({ nodes, servers: cluster.urls, faults, random });

    for (let round = 1; round <= ROUNDS; round++) {
      await scenario.runRound(round);
      if (round % ROUNDS_PER_CHECK !== 0 && round !== ROUNDS) continue;
      await scenario.check();
      process.stderr.write(`round ${round} of ${ROUNDS}: ${scenario.messageCount} messages, seed ${SEED}\n`);
    }
  },
  ROUNDS * MINUTE_MS + 5 * MINUTE_MS,
);

it(
  '[W178] a node that starts without NATS servers ends with one line that names them',
  async () => {
    const { code, stderr } = await runTau(newHome(), ['serve', '--cluster', 'nats://127.0.0.1:1', '--node', 'x']);

    expect(code).toBe(1);
    expect(stderr.trim()).toBe('tau: No NATS server answers at nats://127.0.0.1:1');
  },
  2 * MINUTE_MS,
);
