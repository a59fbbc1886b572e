import type { AgentEvent } from '../../../protocol/generated/vocabulary.ts';
import type { SessionRecord } from '../../session-record.ts';
import type { AttachResult, DialogAnswer, Snapshot, Subscriber } from '../../sessions.ts';
import type { Channel } from './node-channel.ts';
import { SentRecipients } from './recipient-lists.ts';
import type { SubscriberTraits } from './subscriber-traits.ts';

/** Sends records to the subscribers of one node: a record for several of them crosses the network once. */
export class RecordBundler {
  readonly #channel: Channel;
  readonly #sent = new SentRecipients();
  #record: SessionRecord | undefined;
  #recipients: number[] = [];

  constructor(channel: Channel) {
    this.#channel = channel;
  }

  add(record: SessionRecord, recipient: number): void {
    if (record !== this.#record) {
      this.flush();
      this.#record = record;
      queueMicrotask(() => this.flush());
    }
    this.#recipients.push(recipient);
  }

  /** Sends what was added, so that another message can follow it. */
  flush(): void {
    const record = this.#record;
    if (!record) return;
    const recipients = this.#sent.fieldsOf(this.#recipients);
    this.#record = undefined;
    this.#recipients = [];
    const { event, seq } = record;
    this.#channel.send({ k: 'record', ...recipients, event, seq, ...finalMessage(record) });
  }
}

/** The complete message of a final step: the steps before it do not have all of it. The agent may send malformed events. */
function finalMessage({ event, messageSoFar }: SessionRecord) {
  const { assistantMessageEvent: step } = event as { assistantMessageEvent?: { type?: unknown } | null };
  const isFinal = event.type === 'message_update' && (step?.type === 'done' || step?.type === 'error');
  return isFinal && messageSoFar ? { message: messageSoFar } : {};
}

/** A client of another node, as the session that this node serves sees it. */
export class RemoteSubscriber implements Subscriber {
  traits: SubscriberTraits;
  /** Called when the session is deleted: the client leaves it at once, although its own node closes it later. */
  onDeleted = (): void => {};
  readonly #id: number;
  readonly #channel: Channel;
  readonly #bundler: RecordBundler;

  constructor(
    id: number,
    { traits, channel, bundler }: { traits: SubscriberTraits; channel: Channel; bundler: RecordBundler },
  ) {
    this.#id = id;
    this.traits = traits;
    this.#channel = channel;
    this.#bundler = bundler;
  }

  get isCumulative(): boolean {
    return this.traits.isCumulative;
  }

  get access() {
    return this.traits.access;
  }

  get canView(): boolean {
    return this.traits.canView;
  }

  get canAnswerDialogs(): boolean {
    return this.traits.canAnswerDialogs;
  }

  get isAdmin(): boolean {
    return this.traits.isAdmin;
  }

  get ui(): readonly string[] | undefined {
    return this.traits.ui;
  }

  get receivesTitles(): boolean {
    return this.traits.receivesTitles;
  }

  get receivesEntries(): boolean {
    return this.traits.receivesEntries;
  }

  get receivesIds(): boolean {
    return this.traits.receivesIds;
  }

  get receivesOutputDeltas(): boolean {
    return this.traits.receivesOutputDeltas;
  }

  get heartbeatMs(): number {
    return this.traits.heartbeatMs;
  }

  get isBehind(): boolean {
    return this.traits.isBehind;
  }

  onAttached(result: AttachResult): void {
    this.#call('onAttached', result);
  }

  onSnapshot(snapshot: Snapshot): void {
    this.#call('onSnapshot', snapshot);
  }

  onRecord(record: SessionRecord): void {
    this.#bundler.add(record, this.#id);
  }

  sendPrivate(event: AgentEvent): void {
    this.#call('sendPrivate', event);
  }

  onAnswer(answer: DialogAnswer): void {
    this.#call('onAnswer', answer);
  }

  onAgentLost(reason: string): void {
    this.#call('onAgentLost', reason);
  }

  onSessionMoved(): void {
    this.#call('onSessionMoved');
  }

  onSessionDeleted(): void {
    this.#call('onSessionDeleted');
    this.onDeleted();
  }

  #call(method: SubscriberMethod, value?: unknown): void {
    this.#bundler.flush();
    this.#channel.send({ k: 'call', to: this.#id, method, value });
  }
}

/** The methods of a subscriber that one node calls on another. */
export type SubscriberMethod = Exclude<(keyof Subscriber & `on${string}`) | 'sendPrivate', 'onRecord'>;
