import type { LineCursor } from './line-cursor.ts';
import type { OpenBlock } from './open-block.ts';

/** Consumes the part of a line that continues a block and returns whether it does; `ends` for its last line. */
export function continueBlock(block: OpenBlock, line: LineCursor): boolean | 'ends' {
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
      line.skipBlank(block.width);
      return true;
    case 'fence':
      if (line.indent < 4 && closes(block.fence, line.content)) return 'ends';
      line.skipBlank(block.indent);
      return true;
    case 'indented':
      if (line.indent < 4 && !line.isBlank) return false;
      line.skipBlank(4);
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

export function takeQuoteMark(line: LineCursor): boolean {
  if (line.indent > 3 || !line.content.startsWith('>')) return false;
  line.skipContent(1);
  line.skipBlank(1);
  return true;
}

function closes(fence: string, content: string): boolean {
  if (!content.startsWith(fence)) return false;
  const marks = content.trimEnd();
  return marks === (fence[0] ?? '').repeat(marks.length);
}
