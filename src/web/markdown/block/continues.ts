import type { Line } from './line.ts';
import type { OpenBlock } from './open-block.ts';

/** Whether a block goes on with a line, whose part for it is read then; `ends` when the line is the last one of it. */
export function continues(block: OpenBlock, line: Line): boolean | 'ends' {
  switch (block.kind) {
    case 'root':
    case 'list':
    case 'details':
      return true;
    case 'quote':
      return takeQuoteMark(line);
    case 'item':
      if (line.isBlank) return block.children.length > 0;
      if (line.indent < block.width) return false;
      line.skipEmpty(block.width);
      return true;
    case 'fence':
      if (line.indent < 4 && closes(block.fence, line.words)) return 'ends';
      line.skipEmpty(block.indent);
      return true;
    case 'indented':
      if (line.indent < 4 && !line.isBlank) return false;
      line.skipEmpty(4);
      return true;
    case 'comment':
      return !block.isClosed && !line.isBlank;
    case 'paragraph':
    case 'table':
      return !line.isBlank;
    case 'heading':
    case 'rule':
      return false;
  }
}

/** Reads the mark of a quote, when there is one. */
export function takeQuoteMark(line: Line): boolean {
  if (line.indent > 3 || !line.words.startsWith('>')) return false;
  line.skipWord(1);
  line.skipEmpty(1);
  return true;
}

function closes(fence: string, words: string): boolean {
  if (!words.startsWith(fence)) return false;
  const marks = words.trimEnd();
  return marks === (fence[0] ?? '').repeat(marks.length);
}
