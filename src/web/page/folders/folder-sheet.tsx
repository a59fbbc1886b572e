import { useEffect, useId, useMemo, useRef } from 'preact/hooks';
import { PlainText } from '../../code/plain-text.tsx';
import { keysText } from '../controls/shortcuts/keyboard.ts';
import { Icon } from '../icons.tsx';
import { isComposing } from '../ime.ts';
import { Modal } from '../overlay/modal.tsx';
import { useApp } from '../state/app.ts';
import { folderName, recentFolders } from '../state/list/session-summaries.ts';
import { FolderBrowser } from './folder-browser.ts';
import { FolderChoices } from './folder-choices.tsx';

const MAX_RECENT_FOLDERS = 5;

/** The sheet that chooses the folder of a new session: a recent one, or one typed or browsed to. */
export function FolderSheet() {
  const app = useApp();
  const browser = useMemo(() => new FolderBrowser(), []);
  const list = useId();
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    // The end of a path matters more than its beginning.
    if (input.current) input.current.scrollLeft = input.current.scrollWidth;
  }, [browser.listing.value]);
  const begin = async () => {
    const folder = await browser.validate();
    // A closed sheet cancels the choice.
    if (folder !== undefined && input.current) app.newSession(folder);
  };
  const enter = (path?: string) => {
    browser.enter(path);
    input.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, ctrlKey, metaKey } = event;
    if (isComposing(event) || !['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) return;
    event.preventDefault();
    if (key !== 'Enter') browser.step(key === 'ArrowDown' ? 1 : -1);
    else if (ctrlKey || metaKey) void begin();
    else enter();
  };
  const recent = recentFolders(app.sessions.sessions.value ?? [], MAX_RECENT_FOLDERS);
  return (
    <Modal title="New session in a folder" kind="folder-sheet" onClose={() => (app.sheet.value = undefined)}>
      <div class="modal-body">
        <label class="hidden-label" for={`${list}-path`}>
          Folder
        </label>
        <input
          ref={input}
          id={`${list}-path`}
          class="folder-path"
          role="combobox"
          aria-expanded="true"
          aria-controls={list}
          aria-autocomplete="list"
          aria-activedescendant={browser.chosen.value < 0 ? undefined : `${list}-${browser.chosen.value}`}
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          placeholder="/path/to/a/folder"
          value={browser.typed.value}
          onInput={(event) => browser.type(event.currentTarget.value)}
          onKeyDown={onKeyDown}
        />
        {recent.length > 0 && (
          <ul class="recent-folders" aria-label="Folders of earlier sessions">
            {recent.map((path) => (
              <li key={path}>
                <button type="button" title={path} onClick={() => enter(path)}>
                  <PlainText text={folderName(path)} />
                </button>
              </li>
            ))}
          </ul>
        )}
        <FolderChoices id={list} browser={browser} onEnter={enter} />
        <div class="modal-foot">
          <p class="note">
            <kbd>{keysText('Enter')}</kbd> goes in, <kbd>{keysText('Mod+Enter')}</kbd> begins
          </p>
          <button type="button" class="main" onClick={() => void begin()}>
            <Icon name="add" />
            Begin here
          </button>
        </div>
      </div>
    </Modal>
  );
}
