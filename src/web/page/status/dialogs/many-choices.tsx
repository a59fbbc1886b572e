import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { isComposing } from '../../ime.ts';
import { fuzzyFilter } from '../../overlay/fuzzy-match.ts';
import { Choices, type ChoicesProps } from './choices.tsx';

// Up to this many need no search.
const MAX_UNSEARCHED = 20;

const MAX_SHOWN_CHOICES = 200;

/** Any number of choices; many get a search field. */
export function ManyChoices({ choices, onResponse }: ChoicesProps) {
  const query = useSignal('');
  const items = useMemo(() => choices.map((choice) => ({ ...choice, words: choice.label })), [choices]);
  const found = useMemo(() => fuzzyFilter(query.value, items), [query.value, items]);
  if (choices.length <= MAX_UNSEARCHED) return <Choices choices={choices} onResponse={onResponse} />;
  const onKeyDown = (event: KeyboardEvent & { readonly currentTarget: HTMLInputElement }) => {
    if (isComposing(event) || (event.key !== 'ArrowDown' && event.key !== 'Enter')) return;
    event.preventDefault();
    event.currentTarget.form?.querySelector<HTMLElement>('.choices button')?.focus();
  };
  return (
    <>
      <input
        aria-label="Search the answers"
        placeholder="Type to search"
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          query.value = event.currentTarget.value;
        }}
        onKeyDown={onKeyDown}
      />
      <Choices key={query.value} choices={found.slice(0, MAX_SHOWN_CHOICES)} onResponse={onResponse} />
      {found.length === 0 && <p class="note">Nothing fits “{query.value}”.</p>}
      {found.length > MAX_SHOWN_CHOICES && (
        <p class="note">{found.length - MAX_SHOWN_CHOICES} more: type to narrow them down.</p>
      )}
    </>
  );
}
