import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import type { ConversationView } from '../../src/client/view/view.ts';
import type { Sight } from '../support/faults/client.ts';
import { type Fault, gentleFaults, pick, type Random, roughFaults } from '../support/faults/faults.ts';
import { KINDS, type Kind, Plot } from '../support/faults/plot.ts';
import { type Accepted, Stage, untilCertain } from '../support/faults/stage.ts';
import { until } from '../support/processes.ts';
import { randomFrom } from '../support/random.ts';

const SOAK = Boolean(process.env['SOAK']);
const SEED = Number(process.env['FAULT_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const FAULTS_PER_ACT = 4;
/** Of twenty faults each. */
const STORIES = SOAK ? 10 : 1;
/** How long clients may take until they see the same. Some need a while to notice that a line is deaf. */
const PATIENCE_MS = 30_000;
/** How long nothing may be heard before it is looked again. */
const LOOK_WORDS = 2000;

for (let story = 0; story < STORIES; story++) {
  const seed = SEED + story;
  it(`[W27 W28 W31 W54 W55] whatever breaks, everybody sees the same and nothing is lost or doubled (FAULT_SEED=${seed})`, async () => {
    const random = randomFrom(seed);
    const plot = new Plot(KINDS.length);
    const play = new Play(plot, await Stage.open(plot), random);

    for (const [number, kind] of shuffled(KINDS, random).entries()) await play.act(number, kind);

    await play.end();
  }, 600_000);
}

/** A message under the id that makes it safe to say again. */
interface Message {
  readonly id: string;
  readonly type: 'prompt' | 'steer' | 'follow_up';
  readonly text: string;
  /** What it was answered with. */
  accepted?: Accepted;
}

/** Acts in which things go wrong while the model is held in the middle of something. */
class Play {
  readonly #plot: Plot;
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #gentle: readonly Fault[];
  readonly #rough: readonly Fault[];
  readonly #messages: Message[] = [];
  /** How runs may have ended that were not left alone. */
  readonly #outcomes = new Map<string, readonly string[]>();

  constructor(plot: Plot, stage: Stage, random: Random) {
    this.#plot = plot;
    this.#stage = stage;
    this.#random = random;
    this.#gentle = gentleFaults(stage, { isPatient: SOAK });
    this.#rough = roughFaults(stage);
  }

  async act(number: number, kind: Kind): Promise<void> {
    const { reference } = this.#stage;
    const isRough = this.#random(5) < 2;
    const before = new Set(this.#runs());
    const greetings = reference.greetings.length;
    this.#stage.note(`act ${number}: ${kind}${isRough ? ', with kills' : ''}`);
    this.#plot.closeGate();

    const said = [this.#begin(number, kind)];
    await Promise.all(await this.#disturb(number, kind, { isRough, said }));
    await this.#expectSameViews();
    this.#stage.note('let go');
    this.#plot.openGate();
    for (const message of await Promise.all(said)) await this.#ended(message);
    if (isRough) for (const runId of this.#runs()) if (!before.has(runId)) this.#expectOutcome(runId, ['ok', 'error']);
    await this.#rest(number, { isRough });

    if (!isRough) expect(reference.greetings.slice(greetings)).toEqual([]);
    await this.#expectSameViews();
    await this.#expectExactlyOnce();
    await this.#expectOneEnd();
  }

  /** Everybody leaves, and nothing stays. */
  async end(): Promise<void> {
    const { server, reference } = this.#stage;
    const newcomer = this.#stage.newcomer();
    await newcomer.session.ping();
    await newcomer.session.ping();
    expect(withoutNotices(newcomer.view)).toEqual(withoutNotices(reference.view));

    expect(await server.end('SIGTERM')).toBe(128 + 15);

    await until(async () => (await server.family()).length === 0);
  }

  /** Lets everything go wrong that may, at any moment; answers what is still under way. */
  async #disturb(
    number: number,
    kind: Kind,
    { isRough, said }: { isRough: boolean; said: Promise<Message | undefined>[] },
  ): Promise<Promise<unknown>[]> {
    const { reference } = this.#stage;
    const kill = this.#random(FAULTS_PER_ACT);
    const faults: Promise<unknown>[] = [];
    for (let count = 0; count < FAULTS_PER_ACT; count++) {
      await reference.moment(this.#random(60), this.#random(8000));
      if (kind === 'queue') said.push(this.#say(this.#random(2) ? 'steer' : 'follow_up', `${number} later ${count}`));
      if (kind === 'tools') void reference.session.bash({ command: `echo beside ${count}` }).catch(() => {});
      if (kind === 'dialog' && count === 2) await this.#answerDialogs();
      faults.push(this.#fault({ isKill: isRough && (count === kill || this.#random(4) === 0) }));
    }
    return faults;
  }

  #fault({ isKill }: { isKill: boolean }): Promise<unknown> {
    const { reference } = this.#stage;
    // It is held: it cannot end by itself.
    const cutOff = isKill ? this.#runs().filter((runId) => !reference.isSettled(runId)) : [];
    for (const runId of cutOff) this.#expectOutcome(runId, ['error']);
    const fault = pick(isKill ? this.#rough : this.#gentle, this.#random);
    this.#stage.note(fault.name);
    return fault.happen(this.#random);
  }

  async #begin(number: number, kind: Kind): Promise<Message | undefined> {
    if (kind !== 'compaction') return this.#say('prompt', `${number} ${kind}`);
    // It may be cut off, or there may be too little to sum up.
    await this.#stage.reference.session.compact({}).catch(() => {});
    return undefined;
  }

  /** Says something, in the name of anybody, as often as it takes to be sure that it was heard. */
  async #say(type: Message['type'], text: string): Promise<Message> {
    const message: Message = { id: randomUUID(), type, text };
    this.#messages.push(message);
    const busy = type === 'prompt' ? { streamingBehavior: 'followUp' } : {};
    const params = { message: text, clientMessageId: message.id, ...busy };
    message.accepted = await untilCertain(() => {
      const speaker = this.#anybody();
      this.#stage.note(`"${text}" by ${speaker?.name ?? 'the reference'}`);
      return this.#stage.speak(speaker, type, params);
    });
    this.#stage.note(`"${text}" ${JSON.stringify(message.accepted)}`);
    return message;
  }

  async #answerDialogs(): Promise<void> {
    for (const { id, method } of this.#stage.reference.view.dialogs) {
      const response = { type: 'extension_ui_response', id, value: method === 'select' ? 'that' : '7' } as const;
      await this.#stage.send(this.#anybody(), response).catch(() => {});
    }
  }

  #anybody() {
    const { actors } = this.#stage;
    return actors[this.#random(actors.length + 1)];
  }

  /** Settles when the run that serves the message is over. */
  async #ended(message: Message | undefined): Promise<void> {
    const { reference } = this.#stage;
    const runId = message?.accepted?.runId;
    const asked = () => reference.view.dialogs.map(({ id }) => id).join();
    while (runId !== undefined && !reference.isSettled(runId)) {
      await this.#answerDialogs();
      const before = asked();
      const isNews = () => reference.isSettled(runId) || asked() !== before;
      await reference.until(`the end of the run of "${message?.text}"`, isNews);
    }
  }

  /** Lets everything come to an end, also what a kill has left in the queue. */
  async #rest(number: number, { isRough }: { isRough: boolean }): Promise<void> {
    const { session } = this.#stage.reference;
    await session.waitIdle();
    if (isRough) {
      await this.#ended(await this.#say('prompt', `${number} again`));
      await session.waitIdle();
    }
    expect(await session.getState()).toMatchObject({ isIdle: true, pendingMessageCount: 0, pendingUi: [] });
  }

  /** Everybody comes to see what the reference sees. */
  async #expectSameViews(): Promise<void> {
    const { reference, actors } = this.#stage;
    for (const actor of actors) {
      const views = async () => {
        await this.#stage.everybodyHeard();
        const sight = await actor.process.look();
        const hasAll = actor.lives === 1 && [sight, reference].every(isUnbroken);
        const seen = (view: ConversationView) => plain(hasAll ? view : withoutNotices(view));
        return [seen(sight.view), seen(reference.view)] as const;
      };
      let both = await views();
      // What is held may have yet to come to its gate.
      for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline && !isDeepStrictEqual(...both); ) {
        await reference.moment(1, LOOK_WORDS);
        both = await views();
      }
      const [seen, there] = both;
      expect(seen, actor.name).toEqual(there);
    }
  }

  /** Everything that was said is in the conversation, once, for whoever looks into the file and for whoever listens. */
  async #expectExactlyOnce(): Promise<void> {
    const { session, view } = this.#stage.reference;
    const { entries } = await session.getEntries({});
    const ids = entries.flatMap((entry) => ('clientMessageId' in entry ? [entry.clientMessageId] : []));
    expect(ids.toSorted()).toEqual(this.#messages.map(({ id }) => id).toSorted());
    expect(await session.getMessages()).toEqual({ messages: view.messages });
  }

  /** Every run ended once, for whoever opened or joined it; with an error where it was cut off. */
  async #expectOneEnd(): Promise<void> {
    const { reference, actors } = this.#stage;
    for (const runId of this.#runs()) {
      const ends = reference.settled.filter((event) => event.runId === runId);
      expect(ends, runId).toHaveLength(1);
      expect(this.#outcomes.get(runId) ?? ['ok'], runId).toContain(ends[0]?.outcome);
    }
    for (const { process } of actors) {
      const { settled, runs } = await process.look();
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

/** Whether it has heard everything since it came first. */
const isUnbroken = ({ greetings: [, ...later] }: Pick<Sight, 'greetings'>) => later.every((resume) => resume === 'ok');

/** What was only shown once is unknown to whoever was not there. */
/** Without what was told once, and what somebody has read before and was not told anew. */
const withoutNotices = ({ notices: _notices, unconfirmed: _unconfirmed, ...view }: ConversationView) => view;

/** As it goes over a wire. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random(rest.length), 1)[0] as T);
}
