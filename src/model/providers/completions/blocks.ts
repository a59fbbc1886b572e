import type { Draft, DraftStep } from '../../draft.ts';
import type { TextDelta } from './text-deltas.ts';

/** A tool call that is streaming. */
export interface StreamedToolCall {
  readonly kind: 'call';
  readonly id: string;
  /** Is empty until known. */
  name: string;
  readonly arguments: StreamedArguments;
  /** Must be replayed with the call unchanged. */
  signature?: string;
}

interface StreamedText {
  readonly kind: TextDelta['kind'];
  readonly pieces: string[];
  readonly signature?: string;
}

type Block = StreamedToolCall | StreamedText;

/**
 * Emits blocks one after another although their pieces arrive interleaved: the first streams, the others wait until it
 * is complete.
 */
export class BlockSequencer {
  readonly #draft: Draft;
  readonly #pending: Block[] = [];
  /** The block that streams; `#emitted` counts its emitted pieces. */
  #current: Block | undefined;
  #emitted = 0;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  addText({ kind, text, field }: TextDelta): DraftStep[] {
    const last = this.#pending.at(-1) ?? this.#current;
    if (last && last.kind !== 'call' && last.kind === kind) last.pieces.push(text);
    else this.#pending.push({ kind, pieces: [text], ...(field !== undefined && { signature: field }) });
    return this.#emitReady();
  }

  /** Adds a call. Pieces added to it later are emitted by `flush`. */
  addCall(call: StreamedToolCall): void {
    this.#pending.push(call);
  }

  flush(): DraftStep[] {
    return this.#emitReady();
  }

  /** Emits all pending blocks, complete or not, except calls without a name. */
  end(): DraftStep[] {
    return [...this.#emitNew(), ...this.#pending.filter(isNamed).flatMap((block) => this.#start(block))];
  }

  #emitReady(): DraftStep[] {
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

  #start(block: Block): DraftStep[] {
    this.#current = block;
    this.#emitted = 0;
    const opening = block.kind === 'call' ? this.#draft.toolCall({ id: block.id, name: block.name }) : [];
    return [...opening, ...this.#emitNew()];
  }

  #emitNew(): DraftStep[] {
    const block = this.#current;
    if (!block) return [];
    const { pieces } = block.kind === 'call' ? block.arguments : block;
    const delta = pieces.slice(this.#emitted).join('');
    this.#emitted = pieces.length;
    const steps = delta === '' ? [] : this.#emitDelta(block, delta);
    if (block.signature !== undefined) this.#draft.sign(block.signature);
    return steps;
  }

  #emitDelta({ kind }: Block, delta: string): DraftStep[] {
    if (kind === 'call') return this.#draft.toolArguments(delta);
    return kind === 'text' ? this.#draft.text(delta) : this.#draft.thinking(delta);
  }
}

const isNamed = (block: Block) => block.kind !== 'call' || block.name !== '';

// Text is complete when another block begins, a call when its arguments are.
const isComplete = (block: Block) => block.kind !== 'call' || block.arguments.isWhole;

/** Tool call arguments that arrive as pieces of JSON. Scans each character once. */
export class StreamedArguments {
  readonly pieces: string[] = [];
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isWhole = false;

  /** Whether the JSON object is closed. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  add(piece: string): void {
    this.pieces.push(piece);
    for (const character of piece) this.#scan(character);
  }

  #scan(character: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      if (character === '"') this.#isInString = false;
      else if (character === '\\') this.#isEscaped = true;
    } else if (character === '"') this.#isInString = true;
    else if (character === '{') this.#depth += 1;
    else if (character === '}') {
      this.#depth -= 1;
      this.#isWhole = this.#depth === 0;
    }
  }
}
