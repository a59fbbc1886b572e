import { signalTo } from '../processes/processes.ts';
import { roundTrips } from './round-trips.ts';
import type { DisturbedClient, FaultTestbed } from './testbed.ts';

/** Returns a random integer below a bound. */
export type Random = (below: number) => number;

/** A fault; `inject` settles when it is over. */
export interface Fault {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  readonly inject: (random: Random) => Promise<unknown>;
}

interface FaultOptions {
  /** Sometimes leaves the detection of a dropped connection to the client, which takes up to 15 s. */
  readonly leavesDropsToClients: boolean;
}

/** Faults that delay processes or break one client's connection: no run may be affected. */
export function survivableFaults(testbed: FaultTestbed, { leavesDropsToClients: isPatient }: FaultOptions): Fault[] {
  const { server } = testbed;
  const anyClient = (random: Random) => testbed.clients[random(testbed.clients.length)] as DisturbedClient;
  return [
    { name: 'reset', weight: 3, inject: async (random) => anyClient(random).proxy.reset() },
    { name: 'cut in a frame', weight: 3, inject: async (random) => anyClient(random).proxy.cutAfter(random(400)) },
    {
      name: 'half open',
      weight: 3,
      inject: async (random) => {
        const { proxy } = anyClient(random);
        proxy.dropBytes();
        if (isPatient && random(4) === 0) return;
        await roundTrips(1000 + random(10_000));
        proxy.resetDroppedClients();
      },
    },
    { name: 'delay', weight: 2, inject: (random) => anyClient(random).proxy.delay(roundTrips(500 + random(5000))) },
    {
      name: 'stop a client',
      weight: 2,
      inject: (random) => {
        const { process } = anyClient(random);
        return pauseProcess(random, (signal) => process.signal(signal));
      },
    },
    { name: 'kill a client', weight: 2, inject: (random) => testbed.replace(anyClient(random)) },
    {
      name: 'stop the agent',
      weight: 2,
      inject: async (random) => {
        const [agent] = await server.agents();
        if (agent) await pauseProcess(random, (signal) => signalTo(agent, signal));
      },
    },
    { name: 'stop the server', weight: 1, inject: (random) => pauseProcess(random, (signal) => server.signal(signal)) },
  ];
}

/** Faults that interrupt a run. */
export function killFaults({ server }: FaultTestbed): Fault[] {
  let restarted: Promise<unknown> = Promise.resolve();
  return [
    {
      name: 'kill the agent',
      weight: 1,
      inject: async () => {
        const [agent] = await server.agents();
        if (agent) signalTo(agent, 'SIGKILL');
      },
    },
    {
      name: 'kill the server',
      weight: 1,
      // Kills during a restart wait until the server is up again.
      inject: () => {
        restarted = restarted.then(() => server.restart());
        return restarted;
      },
    },
  ];
}

/** Picks a fault by weight. */
export function pickFault(faults: readonly Fault[], random: Random): Fault {
  const all = faults.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  return all[random(all.length)] as Fault;
}

async function pauseProcess(random: Random, signal: (signal: 'SIGSTOP' | 'SIGCONT') => void): Promise<void> {
  signal('SIGSTOP');
  await roundTrips(500 + random(8000));
  signal('SIGCONT');
}
