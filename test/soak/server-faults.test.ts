import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { ConversationView } from '../../src/client/view/view.ts';
import type { ClientReport } from '../support/faults/client-process.ts';
import { type Fault, killFaults, pickFault, type Random, survivableFaults } from '../support/faults/faults.ts';
import { ModelScript, ROUND_KINDS, type RoundKind } from '../support/faults/model-script.ts';
import { type Accepted, FaultTestbed, retryUntilCertain } from '../support/faults/testbed.ts';
import { waitUntil } from '../support/processes/processes.ts';
import { randomFrom } from '../support/random.ts';

const SOAK = Boolean(process.env['SOAK']);
const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const FAULTS_PER_ROUND = 4;
// Each scenario injects twenty faults.
const SCENARIOS = SOAK ? 10 : 1;
// Time for the clients' views to become equal; a client needs up to 15 s to detect a dead connection.
const CONVERGENCE_TIMEOUT_MS = 30_000;
// Delay between two comparisons of the views.
const POLL_ROUND_TRIPS = 2000;

for (let scenarioIndex = 0; scenarioIndex < SCENARIOS; scenarioIndex++) {
  const seed = SEED + scenarioIndex;
  it(`[W27 W28 W31 W54 W55] after faults and kills all clients see the same state, and every message is stored once (FAULT_SEED=${seed})`, async () => {
    const random = randomFrom(seed);
    const script = new ModelScript(ROUND_KINDS.length);
    const scenario = new FaultScenario(script, await FaultTestbed.open(script), random);

    for (const [number, kind] of shuffled(ROUND_KINDS, random).entries()) await scenario.runRound(number, kind);

    await scenario.end();
  }, 600_000);
}

/** A message whose id makes a repeated send safe. */
interface Message {
  readonly id: string;
  readonly type: 'prompt' | 'steer' | 'follow_up';
  readonly text: string;
  accepted?: Accepted;
}

/** Rounds in which faults are injected while the model waits at its gate. */
class FaultScenario {
  readonly #script: ModelScript;
  readonly #testbed: FaultTestbed;
  readonly #random: Random;
  readonly #survivable: readonly Fault[];
  readonly #kills: readonly Fault[];
  readonly #messages: Message[] = [];
  /** Outcomes allowed for runs during which a process was killed. */
  readonly #outcomes = new Map<string, readonly string[]>();

  constructor(script: ModelScript, testbed: FaultTestbed, random: Random) {
    this.#script = script;
    this.#testbed = testbed;
    this.#random = random;
    this.#survivable = survivableFaults(testbed, { leavesDropsToClients: SOAK });
    this.#kills = killFaults(testbed);
  }

  async runRound(number: number, kind: RoundKind): Promise<void> {
    const { reference } = this.#testbed;
    const hasKills = this.#random(5) < 2;
    const before = new Set(this.#runs());
    const greetings = reference.greetings.length;
    this.#testbed.log(`round ${number}: ${kind}${hasKills ? ', with kills' : ''}`);
    this.#script.closeGate();

    const messages = [this.#startRound(number, kind)];
    await Promise.all(await this.#injectFaults(number, kind, { hasKills, messages }));
    await this.#expectSameViews();
    this.#testbed.log('gate opened');
    this.#script.openGate();
    for (const message of await Promise.all(messages)) await this.#waitForRunEnd(message);
    if (hasKills) for (const runId of this.#runs()) if (!before.has(runId)) this.#expectOutcome(runId, ['ok', 'error']);
    await this.#waitUntilIdle(number, { hasKills });

    if (!hasKills) expect(reference.greetings.slice(greetings)).toEqual([]);
    await this.#expectSameViews();
    await this.#expectExactlyOnce();
    await this.#expectOneEnd();
  }

  /** After all clients disconnect and the server stops, no process of it is left. */
  async end(): Promise<void> {
    const { server, reference } = this.#testbed;
    const newClient = this.#testbed.connectNewClient();
    await newClient.session.ping();
    await newClient.session.ping();
    expect(withoutNotices(newClient.view)).toEqual(withoutNotices(reference.view));

    expect(await server.end('SIGTERM')).toBe(128 + 15);

    await waitUntil(async () => (await server.descendants()).length === 0);
  }

  /** Injects faults at random moments and returns those that have not ended yet. */
  async #injectFaults(
    number: number,
    kind: RoundKind,
    { hasKills, messages }: { hasKills: boolean; messages: Promise<Message | undefined>[] },
  ): Promise<Promise<unknown>[]> {
    const { reference } = this.#testbed;
    const kill = this.#random(FAULTS_PER_ROUND);
    const faults: Promise<unknown>[] = [];
    for (let count = 0; count < FAULTS_PER_ROUND; count++) {
      await reference.waitBriefly(this.#random(60), this.#random(8000));
      if (kind === 'queue')
        messages.push(this.#sendUntilAccepted(this.#random(2) ? 'steer' : 'follow_up', `${number} later ${count}`));
      if (kind === 'tools') void reference.session.bash({ command: `echo beside ${count}` }).catch(() => {});
      if (kind === 'dialog' && count === 2) await this.#answerDialogs();
      faults.push(this.#injectFault({ isKill: hasKills && (count === kill || this.#random(4) === 0) }));
    }
    return faults;
  }

  #injectFault({ isKill }: { isKill: boolean }): Promise<unknown> {
    const { reference } = this.#testbed;
    // The gate holds these runs: they cannot end by themselves.
    const interrupted = isKill ? this.#runs().filter((runId) => !reference.isSettled(runId)) : [];
    for (const runId of interrupted) this.#expectOutcome(runId, ['error']);
    const fault = pickFault(isKill ? this.#kills : this.#survivable, this.#random);
    this.#testbed.log(fault.name);
    return fault.inject(this.#random);
  }

  async #startRound(number: number, kind: RoundKind): Promise<Message | undefined> {
    if (kind !== 'compaction') return this.#sendUntilAccepted('prompt', `${number} ${kind}`);
    // Fails if a fault interrupts it or there is too little to compact.
    await this.#testbed.reference.session.compact({}).catch(() => {});
    return undefined;
  }

  /** Sends a message from random clients until one of them gets the response. */
  async #sendUntilAccepted(type: Message['type'], text: string): Promise<Message> {
    const message: Message = { id: randomUUID(), type, text };
    this.#messages.push(message);
    const busy = type === 'prompt' ? { streamingBehavior: 'followUp' } : {};
    const params = { message: text, clientMessageId: message.id, ...busy };
    message.accepted = await retryUntilCertain(() => {
      const client = this.#anyClient();
      this.#testbed.log(`"${text}" by ${client?.name ?? 'the reference'}`);
      return this.#testbed.sendMessage(client, type, params);
    });
    this.#testbed.log(`"${text}" ${JSON.stringify(message.accepted)}`);
    return message;
  }

  async #answerDialogs(): Promise<void> {
    for (const { id, method } of this.#testbed.reference.view.dialogs) {
      const response = { type: 'extension_ui_response', id, value: method === 'select' ? 'that' : '7' } as const;
      await this.#testbed.send(this.#anyClient(), response).catch(() => {});
    }
  }

  #anyClient() {
    const { clients } = this.#testbed;
    return clients[this.#random(clients.length + 1)];
  }

  /** Settles when the run of the message has ended. */
  async #waitForRunEnd(message: Message | undefined): Promise<void> {
    const { reference } = this.#testbed;
    const runId = message?.accepted?.runId;
    const openDialogs = () => reference.view.dialogs.map(({ id }) => id).join();
    while (runId !== undefined && !reference.isSettled(runId)) {
      await this.#answerDialogs();
      const before = openDialogs();
      const hasChanged = () => reference.isSettled(runId) || openDialogs() !== before;
      await reference.waitUntil(`the end of the run of "${message?.text}"`, hasChanged);
    }
  }

  /** Waits until the agent is idle; after kills, a further prompt first drains the restored queue. */
  async #waitUntilIdle(number: number, { hasKills }: { hasKills: boolean }): Promise<void> {
    const { session } = this.#testbed.reference;
    await session.waitIdle();
    if (hasKills) {
      await this.#waitForRunEnd(await this.#sendUntilAccepted('prompt', `${number} again`));
      await session.waitIdle();
    }
    expect(await session.getState()).toMatchObject({ isIdle: true, pendingMessageCount: 0, pendingUi: [] });
  }

  /** Every client's view becomes equal to that of the reference client. */
  async #expectSameViews(): Promise<void> {
    const { reference, clients } = this.#testbed;
    for (const client of clients) {
      const views = async () => {
        await this.#testbed.syncClients();
        const report = await client.process.report();
        const hasAll = client.starts === 1 && [report, reference].every(neverMissedEvents);
        const seen = (view: ConversationView) => asJson(hasAll ? view : withoutNotices(view));
        return [seen(report.view), seen(reference.view)] as const;
      };
      let both = await views();
      // The held run may not have reached its gate yet.
      for (
        const deadline = Date.now() + CONVERGENCE_TIMEOUT_MS;
        Date.now() < deadline && !isDeepStrictEqual(...both);
      ) {
        await reference.waitBriefly(1, POLL_ROUND_TRIPS);
        both = await views();
      }
      const [seen, expected] = both;
      expect(seen, client.name).toEqual(expected);
    }
  }

  /** Every message is once in the session file and once in the view. */
  async #expectExactlyOnce(): Promise<void> {
    const { session, view } = this.#testbed.reference;
    const { entries } = await session.getEntries({});
    const ids = entries.flatMap((entry) => ('clientMessageId' in entry ? [entry.clientMessageId] : []));
    expect(ids.toSorted()).toEqual(this.#messages.map(({ id }) => id).toSorted());
    expect(await session.getMessages()).toEqual({ messages: view.messages });
  }

  /** Every run ended once for each client that opened or joined it; an interrupted run ended with an error. */
  async #expectOneEnd(): Promise<void> {
    const { reference, clients } = this.#testbed;
    for (const runId of this.#runs()) {
      const ends = reference.settled.filter((event) => event.runId === runId);
      expect(ends, runId).toHaveLength(1);
      expect(this.#outcomes.get(runId) ?? ['ok'], runId).toContain(ends[0]?.outcome);
    }
    for (const { process } of clients) {
      const { settled, runs } = await process.report();
      const ended = settled.map(({ runId }) => runId);
      expect(ended).toEqual([...new Set(ended)]);
      expect(ended).toEqual(expect.arrayContaining([...runs]));
    }
  }

  #expectOutcome(runId: string, outcomes: readonly string[]): void {
    if (!this.#outcomes.has(runId)) this.#outcomes.set(runId, outcomes);
  }

  #runs(): string[] {
    return [...new Set(this.#messages.flatMap(({ accepted }) => accepted?.runId ?? []))];
  }
}

/** Whether every reconnection resumed without a gap. */
const neverMissedEvents = ({ greetings: [, ...later] }: Pick<ClientReport, 'greetings'>) =>
  later.every((resume) => resume === 'ok');

/** Without notices and unconfirmed messages, which a snapshot does not repeat. */
const withoutNotices = ({ notices: _notices, unconfirmed: _unconfirmed, ...view }: ConversationView) => view;

/** The value after a JSON round trip. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0] as T);
}
