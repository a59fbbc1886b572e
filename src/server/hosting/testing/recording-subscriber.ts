import type { AgentEvent } from '../../../protocol/generated/vocabulary.ts';
import type { SessionRecord } from '../../session-record.ts';
import type {
  Access,
  AttachResult,
  CommandRequest,
  DialogAnswer,
  SessionHandle,
  SessionTarget,
  Snapshot,
  Subscriber,
} from '../../sessions.ts';

type Event = AgentEvent & { readonly seq?: number | undefined };

/** A subscriber that records everything it receives. */
export class RecordingSubscriber implements Subscriber {
  access: Access = 'write';
  isCumulative = false;
  canView = true;
  canAnswerDialogs = true;
  isAdmin = true;
  ui: readonly string[] | undefined;
  receivesTitles = false;
  receivesEntries = false;
  receivesIds = false;
  receivesOutputDeltas = false;
  heartbeatMs = 0;
  isBehind = false;
  readonly attachResults: AttachResult[] = [];
  readonly snapshots: Snapshot[] = [];
  readonly events: Event[] = [];
  readonly privateEvents: AgentEvent[] = [];
  readonly answers: DialogAnswer[] = [];
  readonly losses: string[] = [];
  #wake: (() => void)[] = [];

  onAttached(result: AttachResult): void {
    this.attachResults.push(result);
    this.#notify();
  }

  onSnapshot(snapshot: Snapshot): void {
    this.snapshots.push(snapshot);
    this.#notify();
  }

  onRecord({ event, seq }: SessionRecord): void {
    this.events.push(seq === undefined ? event : { ...event, seq });
    this.#notify();
  }

  sendPrivate(event: AgentEvent): void {
    this.privateEvents.push(event);
    this.#notify();
  }

  onAnswer(answer: DialogAnswer): void {
    this.answers.push(answer);
    this.#notify();
  }

  onAgentLost(reason: string): void {
    this.losses.push(reason);
    this.#notify();
  }

  onSessionMoved(): void {
    this.onAgentLost('The session moved');
  }

  onSessionDeleted(): void {
    this.onAgentLost('The session was deleted');
  }

  get cursor() {
    const { epoch = '', seq = 0 } = this.attachResults.at(-1) ?? {};
    return { epoch, after: Math.max(seq, ...this.events.map((event) => event.seq ?? 0)) };
  }

  /** Waits for the first event of this type after so many events. */
  async waitForEvent<T extends AgentEvent['type']>(type: T, from = 0): Promise<Extract<AgentEvent, { type: T }>> {
    while (true) {
      const event = this.events.slice(from).find((one) => one.type === type);
      if (event) return event as Extract<AgentEvent, { type: T }>;
      if (this.losses.length > 0) throw new Error(`Lost before ${type}: ${this.losses[0]}`);
      await this.change();
    }
  }

  change(): Promise<void> {
    return new Promise((resolve) => this.#wake.push(resolve));
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

/** Sends a request and returns the response. */
export const sendRequest = (handle: SessionHandle, request: CommandRequest): Promise<Record<string, unknown>> =>
  new Promise((resolve) => handle.send(request, (response) => resolve(response.record())));

/** A session as its file holds it, once it has one. */
export async function storedTargetOf(handle: SessionHandle): Promise<SessionTarget> {
  const { data } = await sendRequest(handle, { type: 'get_state' });
  const { sessionFile: path, sessionId: id } = data as { sessionFile: string; sessionId: string };
  return { kind: 'stored', path, id, cwd: handle.cwd };
}
