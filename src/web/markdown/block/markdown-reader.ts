import type { Block } from './block.ts';
import { BlockReader } from './block-reader.ts';
import { Definitions } from './definitions.ts';
import { isUndecided } from './undecided.ts';

interface Document {
  readonly blocks: readonly Block[];
  readonly definitions: Definitions;
}

/** Reads a text that grows. Whole lines are read once, and blocks that are over stay the same objects. */
export class MarkdownReader {
  #reader = BlockReader.begin();
  /** The lines that were read. */
  #whole = '';
  #definitions = new Definitions();
  /** How many these were: more may come to be known through them. */
  #defined = 0;

  read(text: string, { isStreaming = false }: { readonly isStreaming?: boolean } = {}): Document {
    if (!text.startsWith(this.#whole)) this.#forget();
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(this.#whole.length, end).split('\n').slice(0, -1))
      this.#reader.feed(withoutReturn(line));
    this.#whole = text.slice(0, end);
    const reader = this.#reader.fork();
    const last = withoutReturn(text.slice(end));
    if (last !== '' && !(isStreaming && isUndecided(last, reader.isInFence))) reader.feed(last);
    const { blocks, definitions } = reader.finish({ isStreaming });
    const isSame = definitions.size === this.#defined && definitions.isUnchanged && this.#definitions.isUnchanged;
    if (!isSame) this.#definitions = definitions;
    this.#defined = definitions.size;
    return { blocks, definitions: this.#definitions };
  }

  #forget(): void {
    this.#reader = BlockReader.begin();
    this.#whole = '';
    this.#definitions = new Definitions();
    this.#defined = 0;
  }
}

/** Reads a text that is whole. */
export const parseBlocks = (text: string): readonly Block[] => new MarkdownReader().read(text).blocks;

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line);
