import type { JSX } from 'preact';
import { ownProperty } from '../../untyped.ts';
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

/** Picks the card of a tool by its name. */
export function ToolCard(use: ToolUse) {
  const KnownCard = ownProperty(cards, use.name);
  return KnownCard ? <KnownCard {...use} /> : <GenericCard {...use} />;
}
