import { Refusal } from '../../protocol/errors.ts';
import type { Accepted, AgentMessage, ApprovalMode, ImageInput, Limits } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks, UserInput } from '../hooks.ts';
import { type ModelChoice, requireModel } from '../model-choice.ts';
import type { EventSink, Run } from '../run/run.ts';
import type { Transcript } from '../transcript.ts';
import type { InjectedMessage, InjectedMessages, InjectionOptions } from './injected-messages.ts';
import { applyInputHooks, type InputOptions, parseInput, userMessage } from './input.ts';
import type { MessageQueue, QueueKind } from './queue.ts';

/** A message as a command submits it. */
export interface Submission {
  readonly message: string;
  readonly images?: readonly ImageInput[] | undefined;
  readonly clientMessageId?: string | undefined;
  readonly limits?: Limits | undefined;
  /** The loosest approval mode of a run with this message. */
  readonly approvalLimit?: ApprovalMode | undefined;
}

/** The fields of a message that its run takes over. */
export type RunOptions = Pick<Submission, 'clientMessageId' | 'limits' | 'approvalLimit'>;

/** The response to a submission, and the run to start once the response is sent. */
export interface Acceptance {
  readonly accepted: Accepted;
  readonly begin?: () => void;
}

interface SubmissionParts {
  readonly transcript: Transcript;
  readonly events: EventSink;
  readonly hooks: SessionHooks;
  readonly choice: () => ModelChoice;
  readonly queue: MessageQueue;
  readonly injected: InjectedMessages;
  readonly activeRun: () => Run | undefined;
  readonly begin: (messages: AgentMessage[], options: RunOptions) => Required<Acceptance>;
}

/** Accepts messages into the session. A message with a known `clientMessageId` is never processed twice. */
export class Submissions {
  readonly #parts: SubmissionParts;

  constructor(parts: SubmissionParts) {
    this.#parts = parts;
  }

  get #run(): Run | undefined {
    return this.#parts.activeRun();
  }

  /** Opens a run, or joins the active one as `streamingBehavior` requests. */
  async prompt(submission: Submission, options: InputOptions): Promise<Acceptance> {
    const { message, images, limits } = submission;
    throwIfAborted(options);
    const duplicate = this.#duplicateOf(submission);
    if (duplicate) return duplicate;
    const hooked = applyInputHooks(parseInput(message, images), options, this.#parts.hooks);
    // Without hooks nothing is awaited: the next state request sees the run.
    const input = hooked instanceof Promise ? await hooked : hooked;
    if (input === 'handled') return { accepted: { disposition: 'handled' } };
    // A client may take `agent_end` for the end and send its next prompt.
    while (this.#run?.isEnding) await this.#run.settled;
    throwIfAborted(options);
    const run = this.#run;
    if (!run) return this.#open(input, submission);
    if (!options.streamingBehavior) throw new Refusal('agent_busy', BUSY);
    const { id } = this.#parts.queue.add(options.streamingBehavior, input, submission);
    run.budget.addLimits(limits);
    return { accepted: { disposition: 'queued', runId: run.id, queueId: id } };
  }

  /** Queues a message that no run takes before `promptHeld`; undefined for one that is stored already. */
  hold(submission: Submission, kind: QueueKind | undefined): Accepted | undefined {
    const { queue } = this.#parts;
    const input = parseInput(submission.message, submission.images);
    const found = this.#findByClientId(submission.clientMessageId);
    if (found) return found.at === 'file' ? undefined : this.#duplicateOf(submission)?.accepted;
    if (!kind && (this.#run || queue.hasHeld)) throw new Refusal('agent_busy', BUSY);
    const { id } = queue.add(kind ?? 'followUp', input, submission);
    queue.hold(id);
    return { disposition: 'queued', queueId: id };
  }

  /** Opens a run with a held message. After an abort, or while a run is active, the message stays in the queue. */
  async promptHeld(
    queueId: string,
    limits: Limits | undefined,
    options: InputOptions,
  ): Promise<Acceptance | undefined> {
    const { queue, hooks, choice, injected, begin } = this.#parts;
    const item = queue.get(queueId);
    if (!item) return undefined;
    let input: UserInput | undefined;
    try {
      if (options.signal?.aborted) return undefined;
      const hooked = await applyInputHooks(item, options, hooks);
      // The client may have withdrawn it meanwhile.
      if (!queue.get(queueId) || options.signal?.aborted) return undefined;
      if (hooked === 'handled') {
        queue.remove(queueId);
        return undefined;
      }
      input = { text: hooked.text, images: hooked.images };
      if (this.#run) {
        this.#run.budget.addLimits(limits);
        return undefined;
      }
      requireModel(choice());
      const message = queue.deliverHeld(queueId, input);
      const { clientMessageId, approvalLimit } = item;
      return begin([message, ...injected.deliver('nextTurn')], { clientMessageId, approvalLimit, limits });
    } finally {
      queue.release(queueId, input);
    }
  }

  /** Adds a message beside the user's: at once, to the active run, or with the next one. */
  inject(message: InjectedMessage, { triggerTurn, deliverAs, approvalLimit }: InjectionOptions): Acceptance {
    const { injected, events, choice, begin } = this.#parts;
    if (this.#run || deliverAs === 'nextTurn') {
      if (deliverAs !== 'nextTurn') this.#run?.limitApprovals(approvalLimit);
      injected.add(deliverAs ?? (triggerTurn === false ? 'end' : 'steer'), message);
      return { accepted: { disposition: 'queued', runId: this.#run?.id } };
    }
    if (triggerTurn) requireModel(choice());
    const stored = injected.store(message);
    if (triggerTurn) return begin([stored], { approvalLimit });
    events.publish({ type: 'message_start', message: stored });
    events.publish({ type: 'message_end', message: stored });
    return { accepted: { disposition: 'handled' } };
  }

  /** Whether this message was not submitted before. Throws if it is invalid or no model is selected. */
  isNew({ message, images, clientMessageId }: Submission): boolean {
    parseInput(message, images);
    requireModel(this.#parts.choice());
    return !this.#findByClientId(clientMessageId);
  }

  /** Finds an earlier message with this client id: in the queue, in the run or in the file. */
  #findByClientId(clientMessageId: string | undefined) {
    if (clientMessageId === undefined) return undefined;
    const item = this.#parts.queue.findByClientId(clientMessageId);
    if (item) return { at: 'queue', item } as const;
    if (this.#run?.clientMessageIds.includes(clientMessageId)) return { at: 'run' } as const;
    const entry = this.#parts.transcript.findClientMessage(clientMessageId);
    return entry && ({ at: 'file', entry } as const);
  }

  /** The response to a duplicate message; one that was stored but never ran opens its run. */
  #duplicateOf({ clientMessageId, limits, approvalLimit }: Submission): Acceptance | undefined {
    const { transcript, choice } = this.#parts;
    const found = this.#findByClientId(clientMessageId);
    if (!found) return undefined;
    const runId = this.#run?.id;
    if (found.at === 'queue') {
      return { accepted: { disposition: 'queued', queueId: found.item.id, runId, duplicate: true } };
    }
    if (found.at === 'run') return { accepted: { disposition: 'queued', runId, duplicate: true } };
    const neverRan = !this.#run && transcript.endsWith(found.entry.id);
    if (!neverRan) return { accepted: { disposition: 'handled', duplicate: true } };
    requireModel(choice());
    const { accepted, begin } = this.#parts.begin([found.entry.message], { clientMessageId, limits, approvalLimit });
    return { accepted: { ...accepted, duplicate: true }, begin };
  }

  #open(input: UserInput, { clientMessageId, limits, approvalLimit }: Submission): Acceptance {
    const { transcript, choice, injected, begin } = this.#parts;
    requireModel(choice());
    const message = userMessage(input);
    transcript.add(message, { clientMessageId });
    return begin([message, ...injected.deliver('nextTurn')], { clientMessageId, limits, approvalLimit });
  }
}

/** A message that waited during an abort must not start a run after it. */
function throwIfAborted({ signal }: InputOptions): void {
  if (signal?.aborted) throw new Refusal('agent_busy', 'Stopped by an abort before it began');
}

const BUSY = "Agent is already running. Specify streamingBehavior ('steer' or 'followUp') to queue the message.";
