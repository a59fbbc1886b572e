import type { EventSourceMessage } from 'eventsource-parser';
import type { Model } from '../../../protocol/generated/vocabulary.ts';
import type { Draft, Step } from '../../draft.ts';
import { usageOf } from '../../price.ts';
import { ModelFailure, type UsageNews } from '../../request.ts';
import { Blocks } from './blocks.ts';
import { type CallDelta, Calls } from './calls.ts';
import { type Chunk, chunkIn, type Delta } from './chunk.ts';
import { brokenBy } from './finish.ts';
import { proseIn } from './prose.ts';
import { ReasoningDetails } from './reasoning-details.ts';
import { countsIn } from './usage.ts';

type Events = AsyncIterable<EventSourceMessage>;

/** What a stream of chunks says, told to the draft. */
export async function* heard(events: Events, answer: Answer) {
  try {
    for await (const event of events) for (const step of answer.hear(event)) yield step;
  } catch (error) {
    // Whoever has said the reason for its end has said everything.
    if (!(answer.isOver && isBreak(error))) throw error;
  }
  yield* answer.end();
}

const isBreak = (error: unknown) =>
  error instanceof ModelFailure && (error.code === 'connection_lost' || error.code === 'stalled');

/** Writes what the chunks of one answer say into a draft. */
export class Answer {
  #isOver = false;
  #isDone = false;
  readonly #model: Model;
  readonly #draft: Draft;
  readonly #blocks: Blocks;
  readonly #calls: Calls;
  readonly #details = new ReasoningDetails();
  #counted = '';
  #failure: ModelFailure | undefined;

  constructor(model: Model, draft: Draft) {
    this.#model = model;
    this.#draft = draft;
    this.#blocks = new Blocks(draft);
    this.#calls = new Calls(this.#blocks);
  }

  /** Whether the reason for the end is known. Counts may follow. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the server has said that nothing follows. */
  get isDone(): boolean {
    return this.#isDone;
  }

  *hear(event: EventSourceMessage): Generator<Step | UsageNews> {
    if (event.data === '[DONE]') {
      this.#isOver = true;
      this.#isDone = true;
    }
    if (!this.#isDone) yield* this.#hear(chunkIn(event));
  }

  *#hear({ id, model, choices, usage }: Chunk): Generator<Step | UsageNews> {
    const [choice] = choices ?? [];
    if (typeof id === 'string' && id !== '') this.#draft.note({ responseId: id });
    if (typeof model === 'string' && model !== '' && model !== this.#model.id)
      this.#draft.note({ responseModel: model });
    const delta = choice?.delta ?? choice?.message;
    if (delta) yield* this.#said(delta);
    if (typeof choice?.finish_reason === 'string' && choice.finish_reason !== '') this.#finish(choice.finish_reason);
    yield* this.#count(usage ?? choice?.usage);
  }

  /** Tells what is left, or throws for an answer that has no proper end. */
  *end(): Generator<Step> {
    if (!this.#isOver) throw new ModelFailure('connection_lost', 'The stream ended before the answer did');
    yield* this.#blocks.end();
    const { seal } = this.#details;
    if (seal !== undefined) yield* this.#draft.redacted(seal);
    if (this.#failure) throw this.#failure;
  }

  *#said(delta: Delta): Generator<Step> {
    for (const prose of proseIn(delta)) yield* this.#blocks.prose(prose);
    this.#details.add(delta['reasoning_details']);
    const calls = delta['tool_calls'];
    if (!Array.isArray(calls)) return;
    for (const call of calls as readonly (CallDelta | null)[]) {
      if (!call) continue;
      this.#calls.hear(call);
      yield* this.#blocks.grown();
    }
  }

  #finish(reason: string): void {
    this.#isOver = true;
    this.#failure = brokenBy(reason);
    // The draft knows by itself whether it stops for its tools.
    if (reason === 'length') this.#draft.stopReason = 'length';
    else if (reason !== 'stop') this.#draft.note({ rawStopReason: reason });
  }

  *#count(told: unknown): Generator<UsageNews> {
    const counts = countsIn(told);
    const counted = JSON.stringify(counts);
    if (!counts || counted === this.#counted) return;
    this.#counted = counted;
    const usage = usageOf(this.#model, counts);
    this.#draft.usage = usage;
    yield { type: 'usage', usage };
  }
}
