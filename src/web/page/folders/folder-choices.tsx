import { useEffect, useRef } from 'preact/hooks';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import type { FolderBrowser } from './folder-browser.ts';

interface FolderChoicesProps {
  readonly id: string;
  readonly browser: FolderBrowser;
  readonly onEnter: (path: string) => void;
}

/** The list of subfolders. */
export function FolderChoices({ id, browser, onEnter }: FolderChoicesProps) {
  const { choices, chosen, listing, problem } = browser;
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen.value]);
  return (
    <div class="folder-choices">
      {problem.value !== undefined && (
        <p class="failure" role="alert">
          {problem.value}
        </p>
      )}
      <div ref={list} id={id} role="listbox" aria-label="Folders" tabIndex={-1}>
        {choices.value.map(({ name, path }, at) => (
          <button
            key={path}
            type="button"
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === chosen.value}
            tabIndex={-1}
            class="folder-choice"
            // The text field keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onEnter(path)}
          >
            <Icon name={name === '..' ? 'up' : 'folder'} />
            {name === '..' ? 'Up' : <PlainText text={name} />}
          </button>
        ))}
      </div>
      {listing.value?.hasMore && <p class="note">There are more folders here: type the beginning of a name.</p>}
      {listing.value && choices.value.length === 0 && <p class="note">There is no folder here with this name.</p>}
    </div>
  );
}
