import type { ParsedBlock } from './block.ts';
import { BlockReader } from './block-reader.ts';
import { LinkDefinitions } from './link-definitions.ts';

interface ParsedDocument {
  readonly blocks: readonly ParsedBlock[];
  readonly definitions: LinkDefinitions;
}

/** Parses growing markdown. Complete lines are parsed once, and ended blocks keep their identity. */
export class MarkdownReader {
  #reader = BlockReader.create();
  #consumed = '';
  #definitions = new LinkDefinitions();
  /** The number of definitions in the last result. */
  #definitionCount = 0;

  read(text: string, { isStreaming = false }: { readonly isStreaming?: boolean } = {}): ParsedDocument {
    if (!text.startsWith(this.#consumed)) this.#reset();
    const end = text.lastIndexOf('\n') + 1;
    for (const line of text.slice(this.#consumed.length, end).split('\n').slice(0, -1))
      this.#reader.feed(withoutReturn(line));
    this.#consumed = text.slice(0, end);
    const reader = this.#reader.fork();
    const last = withoutReturn(text.slice(end));
    if (last !== '' && !(isStreaming && isUndecided(last, reader.isInFence))) reader.feed(last);
    const { blocks, definitions } = reader.finish({ isStreaming });
    const isSame =
      definitions.size === this.#definitionCount && definitions.isUnchanged && this.#definitions.isUnchanged;
    if (!isSame) this.#definitions = definitions;
    this.#definitionCount = definitions.size;
    return { blocks, definitions: this.#definitions };
  }

  #reset(): void {
    this.#reader = BlockReader.create();
    this.#consumed = '';
    this.#definitions = new LinkDefinitions();
    this.#definitionCount = 0;
  }
}

export const parseBlocks = (text: string): readonly ParsedBlock[] => new MarkdownReader().read(text).blocks;

const withoutReturn = (line: string) => (line.endsWith('\r') ? line.slice(0, -1) : line);

// Longer lines are shown as they grow.
const MAX_HELD_BACK_CHARACTERS = 200;
const CONTAINER_MARKS = /^(?:[\s>]|[-*+]\s|\d{1,9}[.)]\s)*/;
const UNDECIDED = [
  // Marks alone may become a fence, heading, rule, underline, table row or item.
  /^[-=*+_~`#|:\s>]+$/,
  /^\d{1,9}[.)]?$/,
  /^\[[ xX]?\]?\s*$/,
  /^\[[^\]]*\]:\s*$/,
  /^<[a-z!/-]{0,10}$/i,
  /^<summary>[^<]*(?:<[/a-z]*)?$/i,
];

/** Whether a partial line is too ambiguous to be shown. */
function isUndecided(line: string, isInFence: boolean): boolean {
  if (line.length > MAX_HELD_BACK_CHARACTERS) return false;
  if (isInFence) return /^\s*(?:`+|~+)$/.test(line);
  const content = line.replace(CONTAINER_MARKS, '');
  return line !== '' && (content === '' || UNDECIDED.some((pattern) => pattern.test(content)));
}
