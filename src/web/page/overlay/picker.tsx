import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { Icon } from '../icons.tsx';
import { isComposing } from '../ime.ts';
import { fuzzyFilter } from './fuzzy-match.ts';
import { TypeAhead } from './type-ahead.ts';

const MAX_ROWS = 200;

// Rows per Page Up and Page Down.
const PAGE = 8;

export interface PickerItem {
  readonly id: string;
  /** Items of one group stand together under its name. */
  readonly group?: string | undefined;
  /** The searchable text. */
  readonly words: string;
  readonly isCurrent: boolean;
  readonly content: ComponentChildren;
}

interface PickerProps {
  readonly label: string;
  // Undefined while loading.
  readonly items: readonly PickerItem[] | undefined;
  // Without it, typing jumps to the first item with that prefix.
  readonly hasSearch: boolean;
  readonly onChoose: (id: string) => void;
}

/** A list to choose from by pointer or keyboard. The focus stays in one element; typing filters the list. */
export function Picker({ label, items, hasSearch, onChoose }: PickerProps) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const query = useSignal('');
  const typing = useMemo(() => new TypeAhead(), []);
  // Initially the current item is active.
  const at = useSignal<number | undefined>(undefined);
  const found = useMemo(() => fuzzyFilter(query.value, items ?? []), [query.value, items]);
  const shown = found.slice(0, MAX_ROWS);
  const start = Math.max(
    0,
    shown.findIndex(({ isCurrent }) => isCurrent),
  );
  const active = Math.min(at.value ?? start, shown.length - 1);
  useEffect(() => list.current?.querySelector('.active')?.scrollIntoView({ block: 'nearest' }), [active, found]);

  const choose = (index: number) => {
    const item = shown[index];
    if (item) onChoose(item.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const typed = hasSearch ? undefined : typing.find(event, shown);
    const target = indexAfterKey(event.key, active, shown.length) ?? typed;
    if (target === undefined && event.key !== 'Enter') return;
    event.preventDefault();
    if (target === undefined) choose(active);
    else at.value = target;
  };
  const activeId = active < 0 ? undefined : `${id}-${active}`;

  return (
    <div class="picker">
      {hasSearch && (
        <div class="picker-search">
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label={`Search: ${label}`}
            aria-expanded="true"
            aria-autocomplete="list"
            aria-controls={id}
            aria-activedescendant={activeId}
            placeholder="Type to search"
            autocomplete="off"
            spellcheck={false}
            autofocus
            onKeyDown={onKeyDown}
            onInput={(event) => {
              query.value = event.currentTarget.value;
              at.value = 0;
            }}
          />
        </div>
      )}
      <div
        ref={list}
        id={id}
        class="picker-list"
        role="listbox"
        aria-label={label}
        aria-activedescendant={hasSearch ? undefined : activeId}
        tabIndex={hasSearch ? -1 : 0}
        autofocus={!hasSearch}
        onKeyDown={onKeyDown}
        onMouseDown={(event) => event.preventDefault()}
        onClick={(event) => choose(rowOf(event))}
      >
        {groupsOf(shown).map(({ name, first, members }) => (
          <Group key={name ?? ''} name={name}>
            {members.map((item, index) => (
              <div
                key={item.id}
                id={`${id}-${first + index}`}
                role="option"
                class={`picker-row ${first + index === active ? 'active' : ''}`}
                aria-selected={item.isCurrent}
                tabIndex={-1}
                data-row={first + index}
              >
                <span class="picker-mark">{item.isCurrent && <Icon name="check" />}</span>
                {item.content}
              </div>
            ))}
          </Group>
        ))}
      </div>
      {shown.length === 0 && <p class="note picker-note">{items ? `Nothing fits “${query.value}”.` : 'Looking…'}</p>}
      {found.length > shown.length && (
        <p class="note picker-note">{found.length - shown.length} more: type to narrow them down.</p>
      )}
    </div>
  );
}

function Group({ name, children }: { readonly name: string | undefined; readonly children: ComponentChildren }) {
  if (name === undefined) return <>{children}</>;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a listbox
    <div role="group" aria-label={name}>
      <div class="picker-group" aria-hidden="true">
        {name}
      </div>
      {children}
    </div>
  );
}

interface ItemGroup {
  readonly name: string | undefined;
  readonly first: number;
  readonly members: PickerItem[];
}

/** Joins consecutive items of the same group. */
function groupsOf(items: readonly PickerItem[]): readonly ItemGroup[] {
  const groups: ItemGroup[] = [];
  for (const [first, item] of items.entries()) {
    const last = groups.at(-1);
    if (last && last.name === item.group) last.members.push(item);
    else groups.push({ name: item.group, first, members: [item] });
  }
  return groups;
}

/** Returns the row index of an event; -1 for none. */
const rowOf = ({ target }: Event): number =>
  Number((target as Element).closest('[data-row]')?.getAttribute('data-row') ?? -1);

/** Returns the index that a key leads to; undefined for other keys. */
function indexAfterKey(key: string, at: number, length: number): number | undefined {
  if (length === 0) return undefined;
  const last = length - 1;
  switch (key) {
    case 'ArrowDown':
      return at === last ? 0 : at + 1;
    case 'ArrowUp':
      return at === 0 ? last : at - 1;
    case 'PageDown':
      return Math.min(at + PAGE, last);
    case 'PageUp':
      return Math.max(at - PAGE, 0);
    case 'Home':
      return 0;
    case 'End':
      return last;
    default:
      return undefined;
  }
}
