import type { Draft, Step } from '../../draft.ts';
import type { Arguments } from './arguments.ts';
import type { Prose } from './prose.ts';

/** A tool call as it comes in. */
export interface Call {
  readonly kind: 'call';
  readonly id: string;
  /** Empty as long as it is unknown. */
  name: string;
  readonly arguments: Arguments;
  /** What goes back with the call word for word. */
  seal?: string;
}

interface Passage {
  readonly kind: Prose['kind'];
  readonly pieces: string[];
  readonly seal?: string;
}

type Block = Call | Passage;

/**
 * Says one block after another, though their pieces come interleaved: the first is told as it grows, the others wait
 * until it is complete.
 */
export class Blocks {
  readonly #draft: Draft;
  readonly #waiting: Block[] = [];
  /** The block that is being told, and how many of its pieces were. */
  #current: Block | undefined;
  #told = 0;

  constructor(draft: Draft) {
    this.#draft = draft;
  }

  prose({ kind, text, field }: Prose): Step[] {
    const last = this.#waiting.at(-1) ?? this.#current;
    if (last && last.kind !== 'call' && last.kind === kind) last.pieces.push(text);
    else this.#waiting.push({ kind, pieces: [text], ...(field !== undefined && { seal: field }) });
    return this.#tell();
  }

  /** Begins a call. What is added to it later is told by `grown`. */
  call(call: Call): void {
    this.#waiting.push(call);
  }

  grown(): Step[] {
    return this.#tell();
  }

  /** Nothing more comes: tells what has waited, complete or not. A call that never got a name is none. */
  end(): Step[] {
    return [...this.#catchUp(), ...this.#waiting.filter(isNamed).flatMap((block) => this.#begin(block))];
  }

  #tell(): Step[] {
    const steps = this.#catchUp();
    for (let [next] = this.#waiting; next && this.#mayBegin(next); [next] = this.#waiting) {
      this.#waiting.shift();
      steps.push(...this.#begin(next));
    }
    return steps;
  }

  #mayBegin(next: Block): boolean {
    return isNamed(next) && (!this.#current || isComplete(this.#current));
  }

  #begin(block: Block): Step[] {
    this.#current = block;
    this.#told = 0;
    const opening = block.kind === 'call' ? this.#draft.toolCall({ id: block.id, name: block.name }) : [];
    return [...opening, ...this.#catchUp()];
  }

  #catchUp(): Step[] {
    const block = this.#current;
    if (!block) return [];
    const { pieces } = block.kind === 'call' ? block.arguments : block;
    const delta = pieces.slice(this.#told).join('');
    this.#told = pieces.length;
    const steps = delta === '' ? [] : this.#say(block, delta);
    if (block.seal !== undefined) this.#draft.sign(block.seal);
    return steps;
  }

  #say({ kind }: Block, delta: string): Step[] {
    if (kind === 'call') return this.#draft.toolArguments(delta);
    return kind === 'text' ? this.#draft.text(delta) : this.#draft.thinking(delta);
  }
}

const isNamed = (block: Block) => block.kind !== 'call' || block.name !== '';

/** Prose is complete as soon as something else begins, a call when its arguments are. */
const isComplete = (block: Block) => block.kind !== 'call' || block.arguments.isWhole;
