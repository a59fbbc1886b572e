import type { ParsedBlock } from './block.ts';
import * as starts from './block-starts.ts';
import { buildBlocks } from './build-blocks.ts';
import { LineCursor } from './line-cursor.ts';
import { LinkDefinitions, takeDefinitions } from './link-definitions.ts';
import {
  type ContainerBlock,
  continueBlock,
  forkBlock,
  isContainer,
  isVerbatim,
  type OpenBlock,
  takeQuoteMark,
} from './open-block.ts';

// Deeper blocks stay text.
const MAX_BLOCK_NESTING = 20;

// Wider tables stay text: browsers lay out every column of every row, even for missing cells.
const MAX_COLUMNS = 100;

/** Parses markdown line by line into blocks; each line is read once. */
export class BlockReader {
  /** The open blocks from the root to the innermost. */
  readonly #path: OpenBlock[];
  readonly #definitions: LinkDefinitions;
  #isAfterBlank = false;

  private constructor(path: OpenBlock[], definitions: LinkDefinitions) {
    this.#path = path;
    this.#definitions = definitions;
  }

  static create(): BlockReader {
    return new BlockReader([{ kind: 'root', afterBlank: false, children: [] }], new LinkDefinitions());
  }

  /** An independent reader with the same state. */
  fork(): BlockReader {
    const path = this.#path.map(forkBlock);
    for (const [at, block] of path.entries()) {
      const above = path[at - 1];
      if (isContainer(above)) above.children[above.children.length - 1] = block;
    }
    const other = new BlockReader(path, new LinkDefinitions(this.#definitions));
    other.#isAfterBlank = this.#isAfterBlank;
    return other;
  }

  get isInFence(): boolean {
    return this.#innermost?.kind === 'fence';
  }

  feed(text: string): void {
    const line = new LineCursor(text);
    const continued = this.#continueBlocks(line);
    const depth = continued === undefined ? undefined : this.#openBlocks(line, continued);
    if (depth === undefined) {
      this.#isAfterBlank = false;
      return;
    }
    const hasOpened = depth !== continued;
    const deepest = this.#path[depth - 1];
    const isBlank = line.isBlank;
    const isLazy = !hasOpened && depth < this.#path.length && this.#innermost?.kind === 'paragraph' && !isBlank;
    if (!isLazy) this.#closeFrom(depth);
    if (!isBlank || isVerbatim(deepest)) this.#add(line);
    this.#isAfterBlank = isBlank && !hasOpened && deepest?.kind !== 'quote' && deepest?.kind !== 'fence';
  }

  /** Returns the blocks so far. While streaming, the innermost open block is marked `isOpen`. */
  finish({ isStreaming }: { readonly isStreaming: boolean }): {
    blocks: readonly ParsedBlock[];
    definitions: LinkDefinitions;
  } {
    const [root] = this.#path;
    const last = this.#innermost;
    if (last?.kind === 'paragraph') this.#addDefinitions(last.text);
    const blocks = isContainer(root) ? buildBlocks(root.children, isStreaming ? last : undefined) : [];
    return { blocks, definitions: this.#definitions };
  }

  get #innermost(): OpenBlock | undefined {
    return this.#path.at(-1);
  }

  /** Matches the line against the open blocks and returns how many continue; undefined if the line is consumed. */
  #continueBlocks(line: LineCursor): number | undefined {
    for (const [depth, block] of this.#path.entries()) {
      const result = continueBlock(block, line);
      if (result === 'ends') this.#closeFrom(depth);
      if (result !== true) return result === 'ends' ? undefined : depth;
    }
    return this.#path.length;
  }

  /** Opens the blocks that start in the line and returns the depth; undefined if the line is consumed. */
  #openBlocks(line: LineCursor, continued: number): number | undefined {
    let depth = continued;
    while (!line.isBlank && !isVerbatim(this.#path[depth - 1])) {
      if (line.indent > 3) return this.#openIndented(line, depth);
      if (this.#openLeaf(line, depth) || this.#readDetails(line.content, depth)) return undefined;
      const next = this.#openQuote(line, depth) ?? this.#openItem(line, depth);
      if (next === undefined) break;
      depth = next;
    }
    return depth;
  }

  #openIndented(line: LineCursor, depth: number): number {
    if (this.#innermost?.kind === 'paragraph') return depth;
    line.skipBlank(4);
    return this.#push({ kind: 'indented', text: '', afterBlank: this.#isAfterBlank }, depth);
  }

  /** Opens a leaf block, and returns whether the line starts one. */
  #openLeaf({ content, indent }: LineCursor, depth: number): boolean {
    const afterBlank = this.#isAfterBlank;
    const heading = starts.headingStart(content);
    const fence = starts.fenceStart(content);
    const comment = starts.commentStart(content);
    if (heading) this.#push({ kind: 'heading', ...heading, afterBlank }, depth);
    else if (fence) this.#push({ kind: 'fence', ...fence, indent, text: '', afterBlank }, depth);
    else if (comment) this.#push({ kind: 'comment', text: content, ...comment, afterBlank }, depth);
    else if (this.#turnIntoHeading(content, depth) || this.#turnIntoTable(content, depth)) return true;
    else if (starts.isRule(content)) this.#push({ kind: 'rule', afterBlank }, depth);
    else return false;
    return true;
  }

  #turnIntoHeading(content: string, depth: number): boolean {
    const block = this.#path[depth - 1];
    const level = starts.underlineLevel(content);
    if (block?.kind !== 'paragraph' || level === undefined) return false;
    const text = this.#addDefinitions(block.text).trimEnd();
    if (text === '') return false;
    this.#removeLast(depth);
    this.#push({ kind: 'heading', level, text, afterBlank: block.afterBlank }, depth - 1);
    return true;
  }

  /** A delimiter row turns the last line of a paragraph into a table head. */
  #turnIntoTable(content: string, depth: number): boolean {
    const block = this.#path[depth - 1];
    const aligns = starts.columnAligns(content);
    if (block?.kind !== 'paragraph' || !aligns) return false;
    const before = Math.max(0, block.text.lastIndexOf('\n'));
    const head = starts.tableCells(block.text.slice(before));
    if (head.length !== aligns.length || head.length > MAX_COLUMNS) return false;
    if (before === 0) this.#removeLast(depth);
    block.text = block.text.slice(0, before);
    this.#push(
      { kind: 'table', aligns, head, rows: [], afterBlank: before === 0 && block.afterBlank },
      Math.min(depth, this.#path.length),
    );
    return true;
  }

  /** Returns whether the line starts, ends or titles a details block. */
  #readDetails(content: string, depth: number): boolean {
    const start = this.#isTooDeep(depth) ? undefined : starts.detailsStart(content);
    const level = this.#containerDepth(depth);
    const around = this.#path[level - 1];
    if (start) this.#push({ kind: 'details', ...start, children: [], afterBlank: this.#isAfterBlank }, depth);
    else if (around?.kind !== 'details') return false;
    else if (starts.isDetailsEnd(content)) this.#closeFrom(level - 1);
    else {
      const summary = starts.summaryOf(content);
      if (summary === undefined || around.summary !== undefined || around.children.length > 0) return false;
      around.summary = summary;
    }
    return true;
  }

  #openQuote(line: LineCursor, depth: number): number | undefined {
    if (this.#isTooDeep(depth) || !takeQuoteMark(line)) return undefined;
    return this.#push({ kind: 'quote', children: [], afterBlank: this.#isAfterBlank }, depth);
  }

  #openItem(line: LineCursor, depth: number): number | undefined {
    const { content, indent } = line;
    const start = starts.itemStart(content);
    if (!start || this.#isTooDeep(depth)) return undefined;
    // Inside a paragraph, only a non-empty item numbered 1 or with a bullet starts a list: "1999." may be a year.
    const isPlain = (start.number ?? 1) === 1 && content.trimEnd().length > start.length;
    const above = this.#path[depth - 1];
    if (above?.kind === 'paragraph' && !isPlain) return undefined;
    line.skipContent(start.length);
    const gap = line.isBlank || line.indent > 4 ? 1 : line.indent;
    line.skipBlank(gap);
    const afterBlank = this.#isAfterBlank;
    const around = this.#path[(isContainer(above) ? depth : depth - 1) - 1];
    const isSameList = around?.kind === 'list' && around.mark === start.mark;
    const { mark, number } = start;
    const inside = isSameList
      ? depth
      : this.#push({ kind: 'list', mark, start: number, children: [], afterBlank }, depth);
    return this.#push({ kind: 'item', width: indent + start.length + gap, children: [], afterBlank }, inside);
  }

  #add(line: LineCursor): void {
    const block = this.#innermost;
    switch (block?.kind) {
      case 'fence':
      case 'indented':
        block.text += `${line.rest}\n`;
        break;
      case 'comment':
        block.text += `\n${line.rest}`;
        block.isClosed = line.rest.includes('-->');
        break;
      case 'paragraph':
        block.text += `\n${line.content}`;
        break;
      case 'table':
        block.rows.push(starts.tableCells(line.content).slice(0, block.head.length));
        break;
      default:
        this.#push({ kind: 'paragraph', text: line.content, afterBlank: this.#isAfterBlank }, this.#path.length);
    }
  }

  /** Opens a block at this depth and returns the new depth. */
  #push(block: OpenBlock, depth: number): number {
    const level =
      block.kind === 'item' ? depth - (isContainer(this.#path[depth - 1]) ? 0 : 1) : this.#containerDepth(depth);
    this.#closeFrom(level);
    (this.#path[level - 1] as ContainerBlock).children.push(block);
    return this.#path.push(block);
  }

  /** The depth of the innermost open container that can hold a new block. */
  #containerDepth(depth: number): number {
    let level = depth;
    while (!isContainer(this.#path[level - 1]) || this.#path[level - 1]?.kind === 'list') level--;
    return level;
  }

  #closeFrom(depth: number): void {
    for (const block of this.#path.splice(depth)) {
      block.isEnded = true;
      if (block.kind === 'paragraph') this.#addDefinitions(block.text);
    }
  }

  /** Removes the innermost block from its container. */
  #removeLast(depth: number): void {
    this.#closeFrom(depth);
    this.#path.pop();
    const around = this.#innermost;
    if (isContainer(around)) around.children.pop();
  }

  /** Stores the link definitions at the start of a paragraph and returns the rest. */
  #addDefinitions(text: string): string {
    const { found, rest } = takeDefinitions(text);
    for (const [label, address] of found) this.#definitions.add(label, address);
    return rest;
  }

  #isTooDeep(depth: number): boolean {
    const nested = this.#path
      .slice(0, depth)
      .filter(({ kind }) => kind === 'quote' || kind === 'item' || kind === 'details');
    return nested.length >= MAX_BLOCK_NESTING;
  }
}
