import { useLayoutEffect, useRef } from 'preact/hooks';
import { PlainText } from '../../../code/plain-text.tsx';
import { Icon } from '../../icons.tsx';
import type { Completer, Completion } from './completer.ts';

// Labels of command sources.
const SOURCES: Readonly<Record<string, string>> = { prompt: 'template', builtin: 'tau' };

interface CompletionListProps {
  readonly id: string;
  readonly completer: Completer;
  readonly onSelect: (completion: Completion) => void;
}

/** Lists the completions above the message box, which keeps the focus. */
export function CompletionList({ id, completer, onSelect }: CompletionListProps) {
  const list = useRef<HTMLDivElement>(null);
  const completions = completer.completions.value;
  const chosen = completer.chosen.value;
  useLayoutEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' }), [chosen, completions]);
  if (completions.length === 0) return null;
  return (
    <div
      ref={list}
      id={id}
      class="completions"
      role="listbox"
      aria-label="Suggestions"
      tabIndex={-1}
      onMouseDown={(event) => event.preventDefault()}
    >
      {completions.map((completion, at) => (
        <button
          key={`${completion.source} ${completion.name}`}
          id={optionId(id, at)}
          type="button"
          class="completion"
          role="option"
          aria-selected={at === chosen}
          tabIndex={-1}
          onClick={() => onSelect(completion)}
        >
          {completion.kind === 'command' ? <CommandLine {...completion} /> : <PathLine {...completion} />}
        </button>
      ))}
    </div>
  );
}

/** Returns the element id of an option, for `aria-activedescendant`. */
export const optionId = (listId: string, at: number): string => `${listId}-${at}`;

const CommandLine = ({ name, argumentHint, description, source = '' }: Completion) => (
  <>
    <span class="completion-name">
      /<PlainText text={name} />
      {argumentHint !== undefined && (
        <span class="completion-hint">
          {' '}
          <PlainText text={argumentHint} />
        </span>
      )}
    </span>
    <span class="completion-about">
      <PlainText text={description ?? ''} />
    </span>
    <span class="completion-source">{SOURCES[source] ?? source}</span>
  </>
);

function PathLine({ kind, name }: Completion) {
  const cut = name.lastIndexOf('/', name.length - 2) + 1;
  return (
    <>
      <Icon name={kind === 'folder' ? 'folder' : 'file'} />
      <span class="completion-name">
        <PlainText text={name.slice(cut)} />
      </span>
      <span class="completion-about">
        <PlainText text={name.slice(0, cut)} />
      </span>
    </>
  );
}
