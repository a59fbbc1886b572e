import type { Block } from './block.ts';
import { continues, takeQuoteMark } from './continues.ts';
import { Definitions, takeDefinitions } from './definitions.ts';
import { Line } from './line.ts';
import { madeBlocks } from './made.ts';
import { type Container, forkOf, isContainer, isVerbatim, type OpenBlock } from './open-block.ts';
import * as starts from './starts.ts';
import { alignsOf, cellsOf } from './table-lines.ts';

/** What is set in deeper stays text. */
const MAX_NESTING = 20;

/** What would be a wider table stays text: a browser has a place for every cell, also for those that a row does not have. */
const MAX_COLUMNS = 100;

/** Reads lines, each once, and knows at any time which blocks they make. */
export class BlockReader {
  /** What is open: the root, what is open in it, and so on to the innermost. */
  readonly #path: OpenBlock[];
  readonly #definitions: Definitions;
  #isAfterBlank = false;

  private constructor(path: OpenBlock[], definitions: Definitions) {
    this.#path = path;
    this.#definitions = definitions;
  }

  static begin(): BlockReader {
    return new BlockReader([{ kind: 'root', isApart: false, children: [] }], new Definitions());
  }

  /** Another one that has read the same. */
  fork(): BlockReader {
    const path = this.#path.map(forkOf);
    for (const [at, block] of path.entries()) {
      const above = path[at - 1];
      if (isContainer(above)) above.children[above.children.length - 1] = block;
    }
    const other = new BlockReader(path, new Definitions(this.#definitions));
    other.#isAfterBlank = this.#isAfterBlank;
    return other;
  }

  get isInFence(): boolean {
    return this.#innermost?.kind === 'fence';
  }

  feed(text: string): void {
    const line = new Line(text);
    const kept = this.#goOn(line);
    const depth = kept === undefined ? undefined : this.#begin(line, kept);
    if (depth === undefined) {
      this.#isAfterBlank = false;
      return;
    }
    const hasBegun = depth !== kept;
    const deepest = this.#path[depth - 1];
    const isBlank = line.isBlank;
    const isLazy = !hasBegun && depth < this.#path.length && this.#innermost?.kind === 'paragraph' && !isBlank;
    if (!isLazy) this.#leave(depth);
    if (!isBlank || isVerbatim(deepest)) this.#add(line);
    this.#isAfterBlank = isBlank && !hasBegun && deepest?.kind !== 'quote' && deepest?.kind !== 'fence';
  }

  /** What was read, as if nothing followed. When more is to come, the block that it would go on with is marked. */
  finish({ isStreaming }: { readonly isStreaming: boolean }): { blocks: readonly Block[]; definitions: Definitions } {
    const [root] = this.#path;
    const last = this.#innermost;
    if (last?.kind === 'paragraph') this.#define(last.text);
    const blocks = isContainer(root) ? madeBlocks(root.children, isStreaming ? last : undefined) : [];
    return { blocks, definitions: this.#definitions };
  }

  get #innermost(): OpenBlock | undefined {
    return this.#path.at(-1);
  }

  /** Lets open blocks take their part of a line, and answers how many go on; undefined when the line is used up. */
  #goOn(line: Line): number | undefined {
    for (const [depth, block] of this.#path.entries()) {
      const answer = continues(block, line);
      if (answer === 'ends') this.#leave(depth);
      if (answer !== true) return answer === 'ends' ? undefined : depth;
    }
    return this.#path.length;
  }

  /** Begins what begins in a line, and answers how many blocks go on or have begun; undefined when the line is used up. */
  #begin(line: Line, kept: number): number | undefined {
    let depth = kept;
    while (!line.isBlank && !isVerbatim(this.#path[depth - 1])) {
      if (line.indent > 3) return this.#beginIndented(line, depth);
      if (this.#beginLeaf(line, depth) || this.#useForDetails(line.words, depth)) return undefined;
      const next = this.#beginQuote(line, depth) ?? this.#beginItem(line, depth);
      if (next === undefined) break;
      depth = next;
    }
    return depth;
  }

  #beginIndented(line: Line, depth: number): number {
    if (this.#innermost?.kind === 'paragraph') return depth;
    line.skipEmpty(4);
    return this.#push({ kind: 'indented', text: '', isApart: this.#isAfterBlank }, depth);
  }

  /** Whether a line is, or begins, something that holds no blocks. */
  #beginLeaf({ words, indent }: Line, depth: number): boolean {
    const isApart = this.#isAfterBlank;
    const heading = starts.headingStart(words);
    const fence = starts.fenceStart(words);
    const comment = starts.commentStart(words);
    if (heading) this.#push({ kind: 'heading', ...heading, isApart }, depth);
    else if (fence) this.#push({ kind: 'fence', ...fence, indent, text: '', isApart }, depth);
    else if (comment) this.#push({ kind: 'comment', text: words, ...comment, isApart }, depth);
    else if (this.#turnIntoHeading(words, depth) || this.#turnIntoTable(words, depth)) return true;
    else if (starts.isRule(words)) this.#push({ kind: 'rule', isApart }, depth);
    else return false;
    return true;
  }

  #turnIntoHeading(words: string, depth: number): boolean {
    const block = this.#path[depth - 1];
    const level = starts.underline(words);
    if (block?.kind !== 'paragraph' || level === undefined) return false;
    const text = this.#define(block.text).trimEnd();
    if (text === '') return false;
    this.#drop(depth);
    this.#push({ kind: 'heading', level, text, isApart: block.isApart }, depth - 1);
    return true;
  }

  /** The last line of a paragraph is the head of a table when the next one says so. */
  #turnIntoTable(words: string, depth: number): boolean {
    const block = this.#path[depth - 1];
    const aligns = alignsOf(words);
    if (block?.kind !== 'paragraph' || !aligns) return false;
    const before = Math.max(0, block.text.lastIndexOf('\n'));
    const head = cellsOf(block.text.slice(before));
    if (head.length !== aligns.length || head.length > MAX_COLUMNS) return false;
    if (before === 0) this.#drop(depth);
    block.text = block.text.slice(0, before);
    this.#push(
      { kind: 'table', aligns, head, rows: [], isApart: before === 0 && block.isApart },
      Math.min(depth, this.#path.length),
    );
    return true;
  }

  /** Whether a line begins or ends something that can be unfolded, or says what that is. */
  #useForDetails(words: string, depth: number): boolean {
    const start = this.#isTooDeep(depth) ? undefined : starts.detailsStart(words);
    const room = this.#roomAt(depth);
    const around = this.#path[room - 1];
    if (start) this.#push({ kind: 'details', ...start, children: [], isApart: this.#isAfterBlank }, depth);
    else if (around?.kind !== 'details') return false;
    else if (starts.isDetailsEnd(words)) this.#leave(room - 1);
    else {
      const summary = starts.summaryOf(words);
      if (summary === undefined || around.summary !== undefined || around.children.length > 0) return false;
      around.summary = summary;
    }
    return true;
  }

  #beginQuote(line: Line, depth: number): number | undefined {
    if (this.#isTooDeep(depth) || !takeQuoteMark(line)) return undefined;
    return this.#push({ kind: 'quote', children: [], isApart: this.#isAfterBlank }, depth);
  }

  #beginItem(line: Line, depth: number): number | undefined {
    const { words, indent } = line;
    const start = starts.itemStart(words);
    if (!start || this.#isTooDeep(depth)) return undefined;
    // A number may be a year, and a dash a dash: within a paragraph they begin a list only when they do so plainly.
    const isPlain = (start.number ?? 1) === 1 && words.trimEnd().length > start.length;
    const above = this.#path[depth - 1];
    if (above?.kind === 'paragraph' && !isPlain) return undefined;
    line.skipWord(start.length);
    const gap = line.isBlank || line.indent > 4 ? 1 : line.indent;
    line.skipEmpty(gap);
    const isApart = this.#isAfterBlank;
    const around = this.#path[(isContainer(above) ? depth : depth - 1) - 1];
    const isSameList = around?.kind === 'list' && around.mark === start.mark;
    const { mark, number } = start;
    const inside = isSameList ? depth : this.#push({ kind: 'list', mark, start: number, children: [], isApart }, depth);
    return this.#push({ kind: 'item', width: indent + start.length + gap, children: [], isApart }, inside);
  }

  #add(line: Line): void {
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
        block.text += `\n${line.words}`;
        break;
      case 'table':
        block.rows.push(cellsOf(line.words).slice(0, block.head.length));
        break;
      default:
        this.#push({ kind: 'paragraph', text: line.words, isApart: this.#isAfterBlank }, this.#path.length);
    }
  }

  /** Opens a block below those that go on, and answers how many are open then. */
  #push(block: OpenBlock, depth: number): number {
    const room = block.kind === 'item' ? depth - (isContainer(this.#path[depth - 1]) ? 0 : 1) : this.#roomAt(depth);
    this.#leave(room);
    (this.#path[room - 1] as Container).children.push(block);
    return this.#path.push(block);
  }

  /** How many of so many open blocks are around a block that begins now: it ends words, and is no item of a list. */
  #roomAt(depth: number): number {
    let room = depth;
    while (!isContainer(this.#path[room - 1]) || this.#path[room - 1]?.kind === 'list') room--;
    return room;
  }

  #leave(depth: number): void {
    for (const block of this.#path.splice(depth)) {
      block.isOver = true;
      if (block.kind === 'paragraph') this.#define(block.text);
    }
  }

  /** Takes the innermost block out again. */
  #drop(depth: number): void {
    this.#leave(depth);
    this.#path.pop();
    const around = this.#innermost;
    if (isContainer(around)) around.children.pop();
  }

  /** Keeps the definitions at the beginning of a paragraph, and answers the rest. */
  #define(text: string): string {
    const { found, rest } = takeDefinitions(text);
    for (const [label, address] of found) this.#definitions.add(label, address);
    return rest;
  }

  #isTooDeep(depth: number): boolean {
    const nested = this.#path
      .slice(0, depth)
      .filter(({ kind }) => kind === 'quote' || kind === 'item' || kind === 'details');
    return nested.length >= MAX_NESTING;
  }
}
