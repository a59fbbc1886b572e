import { type Inline, parseInline } from './inline.ts';

export interface ListItem {
  readonly blocks: readonly Block[];
  /** Of a task. */
  readonly isDone?: boolean | undefined;
}

/** What a text of markdown consists of. */
export type Block =
  | { readonly type: 'paragraph'; readonly content: readonly Inline[] }
  | { readonly type: 'heading'; readonly level: number; readonly content: readonly Inline[] }
  | { readonly type: 'code'; readonly language: string; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | { readonly type: 'list'; readonly start: number | undefined; readonly items: readonly ListItem[] }
  | { readonly type: 'table'; readonly head: Row; readonly rows: readonly Row[] }
  | { readonly type: 'rule' };

type Row = readonly (readonly Inline[])[];

/** Reads blocks from the front of some lines. */
interface Taken {
  readonly block: Block;
  readonly lines: number;
}

const MAX_NESTING = 10;
const FENCE = /^ {0,3}(`{3,}|~{3,})([^`\n]*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:\s|$)/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const MARKER = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const TABLE_LINE = /^ {0,3}\|?(?: *:?-+:? *\|)+(?: *:?-+:? *)?$/;

/** Reads a text of markdown. */
export const parseBlocks = (text: string): Block[] => blocksOf(text.replaceAll('\r\n', '\n').split('\n'), 0);

function blocksOf(lines: readonly string[], depth: number): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    if (isBlank(lines[at])) {
      at++;
      continue;
    }
    const taken = take(lines, at, depth);
    blocks.push(taken.block);
    at += taken.lines;
  }
  return blocks;
}

function take(lines: readonly string[], at: number, depth: number): Taken {
  const line = lines[at] ?? '';
  if (FENCE.test(line)) return code(lines, at);
  if (HEADING.test(line)) return { block: heading(line), lines: 1 };
  if (RULE.test(line)) return { block: { type: 'rule' }, lines: 1 };
  if (depth < MAX_NESTING && QUOTE.test(line)) return quote(lines, at, depth);
  if (depth < MAX_NESTING && MARKER.test(line)) return list(lines, at, depth);
  if (isTable(lines, at)) return table(lines, at);
  return paragraph(lines, at);
}

function code(lines: readonly string[], at: number): Taken {
  const [, fence = '', language = ''] = FENCE.exec(lines[at] ?? '') ?? [];
  const indent = (lines[at] ?? '').indexOf(fence);
  const closes = (line: string) => line.trim().length >= fence.length && isOnly(line.trim(), fence[0] ?? '');
  const from = at + 1;
  let to = from;
  while (to < lines.length && !closes(lines[to] ?? '')) to++;
  const text = lines.slice(from, to).map((line) => line.slice(Math.min(indent, indentOf(line))));
  return { block: { type: 'code', language: language.trim(), text: text.join('\n') }, lines: to - at + 1 };
}

function heading(line: string): Block {
  const level = HEADING.exec(line)?.[1]?.length ?? 1;
  const words = line.trim().slice(level).trim().split(' ');
  if (words.length > 0 && isOnly(words.at(-1) ?? '', '#')) words.pop();
  return { type: 'heading', level, content: parseInline(words.join(' ')) };
}

function quote(lines: readonly string[], at: number, depth: number): Taken {
  const inside = lines.slice(
    at,
    endOf(lines, at, (line) => QUOTE.test(line)),
  );
  const blocks = blocksOf(
    inside.map((line) => line.replace(QUOTE, '')),
    depth + 1,
  );
  return { block: { type: 'quote', blocks }, lines: inside.length };
}

function list(lines: readonly string[], at: number, depth: number): Taken {
  const [, , first = '-'] = MARKER.exec(lines[at] ?? '') ?? [];
  const items: ListItem[] = [];
  let next = at;
  while (next < lines.length) {
    const [whole = '', , marker = ''] = MARKER.exec(lines[next] ?? '') ?? [];
    if (whole === '' || kindOf(marker) !== kindOf(first) || RULE.test(lines[next] ?? '')) break;
    const { inside, end } = itemLines(lines, next, Math.min(whole.length, whole.trimEnd().length + 4));
    items.push(listItem(inside, depth));
    next = end;
  }
  const start = kindOf(first) === 'number' ? Number.parseInt(first, 10) : undefined;
  return { block: { type: 'list', start, items }, lines: next - at };
}

/** The lines of an item, without what sets them in, and where the next thing begins. */
function itemLines(lines: readonly string[], at: number, width: number): { inside: string[]; end: number } {
  const inside = [(lines[at] ?? '').slice(width)];
  let end = at + 1;
  for (; end < lines.length; end++) {
    const line = lines[end] ?? '';
    const isInside = indentOf(line) >= Math.min(width, 2) && !(indentOf(line) < width && MARKER.test(line));
    const goesOn = !isBlank(lines[end - 1]) && !beginsBlock(line) && !MARKER.test(line);
    if (!isBlank(line) && !isInside && !goesOn) break;
    inside.push(line.slice(Math.min(width, indentOf(line))));
  }
  while (isBlank(inside.at(-1)) && inside.length > 1) inside.pop();
  return { inside, end };
}

function listItem(inside: readonly string[], depth: number): ListItem {
  const [first = '', ...rest] = inside;
  const task = /^\[([ xX])\] /.exec(first);
  if (!task) return { blocks: blocksOf(inside, depth + 1) };
  return { blocks: blocksOf([first.slice(4), ...rest], depth + 1), isDone: task[1] !== ' ' };
}

const isTable = (lines: readonly string[], at: number) =>
  (lines[at] ?? '').includes('|') && (lines[at + 1] ?? '').includes('|') && TABLE_LINE.test(lines[at + 1] ?? '');

function table(lines: readonly string[], at: number): Taken {
  const end = endOf(lines, at + 2, (line) => line.includes('|'));
  const [head = [], ...rows] = [lines[at] ?? '', ...lines.slice(at + 2, end)].map(cells);
  return { block: { type: 'table', head, rows }, lines: end - at };
}

const cells = (line: string): Row =>
  line
    .trim()
    .replace(/^\|/, '')
    .replace(/\|$/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => parseInline(cell.trim().replaceAll('\\|', '|')));

function paragraph(lines: readonly string[], at: number): Taken {
  const end = endOf(lines, at + 1, (line) => !isBlank(line) && !beginsBlock(line));
  const text = lines
    .slice(at, end)
    .map((line) => line.trimStart())
    .join('\n');
  return { block: { type: 'paragraph', content: parseInline(text.trimEnd()) }, lines: end - at };
}

/** Whether a line ends the paragraph before it. A number does so only as the first of a list: it may be a year. */
function beginsBlock(line: string): boolean {
  if (FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  const [, , marker, space] = MARKER.exec(line) ?? [];
  return marker !== undefined && space !== '' && (kindOf(marker) !== 'number' || /^1[.)]$/.test(marker));
}

function endOf(lines: readonly string[], from: number, isInside: (line: string) => boolean): number {
  let end = from;
  while (end < lines.length && isInside(lines[end] ?? '')) end++;
  return end;
}

const kindOf = (marker: string) => (/^\d/.test(marker) ? 'number' : marker);
const indentOf = (line: string) => line.length - line.trimStart().length;
const isBlank = (line: string | undefined) => line === undefined || line.trim() === '';
const isOnly = (text: string, character: string) => text !== '' && [...text].every((each) => each === character);
