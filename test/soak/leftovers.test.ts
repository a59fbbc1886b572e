import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { listProcesses } from '../../src/system/processes/process-table.ts';
import { type Home, newHome, openTestAgent, sessionFiles } from '../support/agent/test-agent.ts';
import type { Peer } from '../support/clients/peer.ts';
import { waitUntil } from '../support/processes/processes.ts';
import { randomFrom } from '../support/random.ts';

const RUNS = process.env['SOAK'] ? 1000 : 25;
const SEED = Number(process.env['LEFTOVERS_SEED'] ?? Math.floor(Math.random() * 1_000_000));

// A unique sleep duration, by which the process list shows leftovers of this test.
const SLEEP_SECONDS = `1000.${process.pid}${SEED}`;

// Commands that end by themselves, and commands that resist termination.
const commands = [
  { command: 'true' },
  { command: 'seq 1 300' },
  { command: `sleep ${SLEEP_SECONDS}`, timeout: 0.03 },
  { command: `sleep ${SLEEP_SECONDS}` },
  { command: `trap '' TERM INT HUP; sleep ${SLEEP_SECONDS}` },
  { command: `sleep ${SLEEP_SECONDS} & sleep ${SLEEP_SECONDS}` },
  { command: `setsid sleep ${SLEEP_SECONDS} & echo up; sleep ${SLEEP_SECONDS}` },
  {
    command: `(setsid bash -c 'sleep ${SLEEP_SECONDS} & disown; sleep ${SLEEP_SECONDS}' > /dev/null 2>&1 &); sleep ${SLEEP_SECONDS}`,
  },
  { command: `sleep ${SLEEP_SECONDS} &` },
];

it(`aborted, killed and closed agents leave no process, no temporary file and no lock (LEFTOVERS_SEED=${SEED})`, async () => {
  const home = newHome();
  const temporary = join(home.root, 'temporary');
  mkdirSync(temporary);
  const random = randomFrom(SEED);
  const agents = new Agents(home, temporary, random);
  let memory: number | undefined;

  for (let run = 0; run < RUNS; run++) {
    const agent = await agents.current();
    await agent.oneRun();
    if (agent.runs === 50) memory = agent.residentMB();
    if (agent.runs > 50 && memory !== undefined) expect(agent.residentMB() - memory, `run ${run}`).toBeLessThan(40);
    if (random(20) === 0) await agents.kill();
  }
  await agents.close();

  await waitUntil(async () => (await countSleepers()) === 0);
  expect(readdirSync(temporary)).toEqual([]);
  for (const path of sessionFiles(home)) {
    const { peer, close } = await openTestAgent('stdio', { home, args: ['--session', path] });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true, sessionFile: path });
    await close();
  }
}, 1_200_000);

/** Runs agents one after another, each until it is killed. */
class Agents {
  readonly #home: Home;
  readonly #temporary: string;
  readonly #random: (below: number) => number;
  #agent: Awaited<ReturnType<Agents['start']>> | undefined;

  constructor(home: Home, temporary: string, random: (below: number) => number) {
    this.#home = home;
    this.#temporary = temporary;
    this.#random = random;
  }

  async current() {
    this.#agent ??= await this.start();
    return this.#agent;
  }

  async start() {
    const random = this.#random;
    const script = [
      ...Array.from({ length: 40 }, () => {
        const calls = Array.from({ length: 1 + random(3) }, () => commands[random(commands.length)]);
        return { steps: calls.map((call) => ({ toolCall: { name: 'bash', arguments: call } })) };
      }),
      { repeat: true },
    ];
    const agent = await openTestAgent('stdio', { home: this.#home, script, env: { TMPDIR: this.#temporary } });
    const { peer } = agent;
    let runs = 0;
    const oneRun = async () => {
      runs++;
      await peer.ok({ type: 'prompt', message: 'go' });
      await waitBriefly(peer, random(60));
      if (random(4) === 0) peer.send({ type: 'bash', command: commands[random(commands.length)]?.command });
      if (random(10) === 0) await peer.ok({ type: 'new_session' });
      await Promise.all([peer.ok({ type: 'abort' }), peer.ok({ type: 'abort_bash' })]);
      expect(await peer.ok({ type: 'get_state' })).toMatchObject({ isIdle: true });
    };
    const residentMB = () => {
      const status = readFileSync(`/proc/${agent.process?.pid}/status`, 'utf8');
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    };
    return {
      ...agent,
      oneRun,
      residentMB,
      get runs() {
        return runs;
      },
    };
  }

  /** Kills the agent during a run. */
  async kill(): Promise<void> {
    const agent = await this.current();
    await agent.peer.ok({ type: 'prompt', message: 'go' });
    for (let turn = this.#random(50); turn > 0; turn--) await new Promise((resolve) => setImmediate(resolve));
    agent.process?.kill('SIGKILL');
    await agent.process?.exited;
    this.#agent = undefined;
    await waitUntil(async () => (await countSleepers()) === 0);
  }

  async close(): Promise<void> {
    await this.#agent?.close();
  }
}

/** Waits for this many records, the end of the run or 150 ms: some commands never end. */
async function waitBriefly(peer: Peer, records: number): Promise<void> {
  const start = peer.records.length;
  const isOver = () => peer.records.length >= start + records || peer.records.at(-1)?.type === 'agent_settled';
  const deadline = Date.now() + 150;
  while (!isOver() && Date.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
}

const countSleepers = async () =>
  (await listProcesses()).filter(({ pid }) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(SLEEP_SECONDS);
    } catch {
      return false;
    }
  }).length;
