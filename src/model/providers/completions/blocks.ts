import type { Draft, MessageStep } from '../../draft.ts';
import type { StreamedArguments } from './arguments.ts';
import type { TextDelta } from './text-deltas.ts';

/** A tool call as it comes in. */
export interface StreamedToolCall {
  readonly kind: 'call';
  readonly id: string;
  /** Empty as long as it is unknown. */
  name: string;
  readonly arguments: StreamedArguments;
  /** What goes back with the call word for word. */
  signature?: string;
}

interface StreamedText {
  readonly kind: TextDelta['kind'];
  readonly pieces: string[];
  readonly signature?: string;
}

type Block = StreamedToolCall | StreamedText;

/**
 * Says one block after another, though their pieces come interleaved: the first is told as it grows, the others wait
 * until it is complete.
 */
export class BlockSequencer {
  readonly #draft: Draft;
  readonly #pending: Block[] = [];
  /** The block that is being told, and how many of its pieces were. */
  #current: Block | undefined;
  #emitted = 0;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  addText({ kind, text, field }: TextDelta): MessageStep[] {
    const last = this.#pending.at(-1) ?? this.#current;
    if (last && last.kind !== 'call' && last.kind === kind) last.pieces.push(text);
    else this.#pending.push({ kind, pieces: [text], ...(field !== undefined && { signature: field }) });
    return this.#emitReady();
  }

  /** Begins a call. What is added to it later is told by `grown`. */
  addCall(call: StreamedToolCall): void {
    this.#pending.push(call);
  }

  flush(): MessageStep[] {
    return this.#emitReady();
  }

  /** Nothing more comes: tells what has waited, complete or not. A call that never got a name is none. */
  end(): MessageStep[] {
    return [...this.#emitNew(), ...this.#pending.filter(isNamed).flatMap((block) => this.#start(block))];
  }

  #emitReady(): MessageStep[] {
    const steps = this.#emitNew();
    for (let [next] = this.#pending; next && this.#canStart(next); [next] = this.#pending) {
      this.#pending.shift();
      steps.push(...this.#start(next));
    }
    return steps;
  }

  #canStart(next: Block): boolean {
    return isNamed(next) && (!this.#current || isComplete(this.#current));
  }

  #start(block: Block): MessageStep[] {
    this.#current = block;
    this.#emitted = 0;
    const opening = block.kind === 'call' ? this.#draft.toolCall({ id: block.id, name: block.name }) : [];
    return [...opening, ...this.#emitNew()];
  }

  #emitNew(): MessageStep[] {
    const block = this.#current;
    if (!block) return [];
    const { pieces } = block.kind === 'call' ? block.arguments : block;
    const delta = pieces.slice(this.#emitted).join('');
    this.#emitted = pieces.length;
    const steps = delta === '' ? [] : this.#emitDelta(block, delta);
    if (block.signature !== undefined) this.#draft.sign(block.signature);
    return steps;
  }

  #emitDelta({ kind }: Block, delta: string): MessageStep[] {
    if (kind === 'call') return this.#draft.toolArguments(delta);
    return kind === 'text' ? this.#draft.text(delta) : this.#draft.thinking(delta);
  }
}

const isNamed = (block: Block) => block.kind !== 'call' || block.name !== '';

/** Prose is complete as soon as something else begins, a call when its arguments are. */
const isComplete = (block: Block) => block.kind !== 'call' || block.arguments.isWhole;
