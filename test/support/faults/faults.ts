import { exchange } from './exchange.ts';
import { signalTo } from './server.ts';
import type { Actor, Stage } from './stage.ts';

/** A number below a bound. */
export type Random = (below: number) => number;

/** Something that goes wrong. Settles when it is over. */
export interface Fault {
  readonly name: string;
  /** How often it happens, compared with others. */
  readonly weight: number;
  readonly happen: (random: Random) => Promise<unknown>;
}

interface Options {
  /** Whether a deaf line is left to the clients now and then: they need a while to notice. */
  readonly isPatient: boolean;
}

/** What only tries patience, or concerns one client and its line: in the end nobody sees that it was. */
export function gentleFaults(stage: Stage, { isPatient }: Options): Fault[] {
  const { server } = stage;
  const one = (random: Random) => stage.actors[random(stage.actors.length)] as Actor;
  return [
    { name: 'reset', weight: 3, happen: async (random) => one(random).line.reset() },
    { name: 'cut in a frame', weight: 3, happen: async (random) => one(random).line.cutAfter(random(400)) },
    {
      name: 'half open',
      weight: 3,
      happen: async (random) => {
        const { line } = one(random);
        line.goDeaf();
        if (isPatient && random(4) === 0) return;
        await exchange(1000 + random(10_000));
        line.tellClients();
      },
    },
    { name: 'delay', weight: 2, happen: (random) => one(random).line.delay(exchange(500 + random(5000))) },
    {
      name: 'stop a client',
      weight: 2,
      happen: (random) => {
        const { process } = one(random);
        return pause(random, (signal) => process.signal(signal));
      },
    },
    { name: 'kill a client', weight: 2, happen: (random) => stage.replace(one(random)) },
    {
      name: 'stop the agent',
      weight: 2,
      happen: async (random) => {
        const [agent] = await server.agents();
        if (agent) await pause(random, (signal) => signalTo(agent, signal));
      },
    },
    { name: 'stop the server', weight: 1, happen: (random) => pause(random, (signal) => server.signal(signal)) },
  ];
}

/** What cuts a run off. */
export function roughFaults({ server }: Stage): Fault[] {
  let restarted: Promise<unknown> = Promise.resolve();
  return [
    {
      name: 'kill the agent',
      weight: 1,
      happen: async () => {
        const [agent] = await server.agents();
        if (agent) signalTo(agent, 'SIGKILL');
      },
    },
    {
      name: 'kill the server',
      weight: 1,
      // One that is about to come back can be killed when it is there.
      happen: () => {
        restarted = restarted.then(() => server.restart());
        return restarted;
      },
    },
  ];
}

/** One of them, by their weights. */
export function pick(faults: readonly Fault[], random: Random): Fault {
  const all = faults.flatMap((fault) => Array.from({ length: fault.weight }, () => fault));
  return all[random(all.length)] as Fault;
}

async function pause(random: Random, signal: (signal: 'SIGSTOP' | 'SIGCONT') => void): Promise<void> {
  signal('SIGSTOP');
  await exchange(500 + random(8000));
  signal('SIGCONT');
}
