import type { JSX } from 'preact';
import { entryOf } from '../../fields.ts';
import { BashCard } from './bash.tsx';
import { EditCard } from './edit.tsx';
import { FindCard, LsCard } from './find.tsx';
import { GenericCard } from './generic.tsx';
import { GrepCard } from './grep.tsx';
import { ReadCard } from './read.tsx';
import { TodoCard } from './todo.tsx';
import type { ToolUse } from './tool-use.ts';
import { WriteCard } from './write.tsx';

const cards: Readonly<Record<string, (use: ToolUse) => JSX.Element>> = {
  bash: BashCard,
  read: ReadCard,
  edit: EditCard,
  write: WriteCard,
  grep: GrepCard,
  find: FindCard,
  ls: LsCard,
  todo: TodoCard,
};

/** A tool call in the form that is known of its tool. */
export function ToolCard(use: ToolUse) {
  const Known = entryOf(cards, use.name);
  return Known ? <Known {...use} /> : <GenericCard {...use} />;
}
