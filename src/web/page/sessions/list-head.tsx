import { Icon } from '../icons.tsx';
import { isComposing } from '../ime.ts';
import { Menu } from '../overlay/menu.tsx';
import { useApp } from '../state/app.ts';
import { stepWithArrows } from './arrow-keys.ts';
import { FILTER_ID } from './focus-filter.ts';

/** The head of the session list: new session, grouping and filter. */
export function ListHead() {
  const app = useApp();
  const { list, isNarrow, isListOpen, sheet } = app;
  const by = list.grouping.value === 'day' ? 'folder' : 'day';
  const grouping = { label: `Group by ${by}`, icon: 'list', onSelect: () => list.groupBy(by) } as const;
  const newInFolder = {
    label: 'New session in a folder…',
    icon: 'folder',
    onSelect: () => {
      isListOpen.value = false;
      sheet.value = 'folders';
    },
  } as const;
  return (
    <div class="sidebar-head">
      <div class="row">
        <p class="wordmark">tau</p>
        {!app.may('prompt') && <Menu label="More about sessions" items={[grouping]} />}
        {isNarrow.value && (
          <button
            type="button"
            class="quiet icon-only"
            aria-label="Close"
            onClick={() => {
              isListOpen.value = false;
            }}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {app.may('prompt') && (
        <div class="row">
          <button type="button" class="new-session" onClick={() => app.newSession()}>
            <Icon name="add" />
            New session
          </button>
          <Menu label="More about sessions" items={[newInFolder, grouping]} />
        </div>
      )}
      <Filter />
    </div>
  );
}

function Filter() {
  const { list } = useApp();
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key !== 'Escape' || list.filter.value === '') {
      stepWithArrows(event);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    list.setFilter('');
  };
  return (
    <div class="filter">
      <Icon name="search" />
      <input
        id={FILTER_ID}
        type="search"
        aria-label="Filter sessions"
        placeholder="Name, words or folder"
        autocomplete="off"
        spellcheck={false}
        value={list.filter.value}
        onInput={(event) => list.setFilter(event.currentTarget.value)}
        onKeyDown={onKeyDown}
      />
      {list.isSearching.value && (
        <span class="spinner" role="status" aria-label="Older sessions are being looked through" />
      )}
    </div>
  );
}
