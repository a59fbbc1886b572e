import { useComputed, useSignal } from '@preact/signals';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { waitingText } from '../sessions/waiting-sessions.ts';
import { useApp, useSession } from '../state/app.ts';
import { folderName } from '../state/list/session-summaries.ts';
import { ApprovalChip } from './approval-chip.tsx';
import { ModelChip, ThinkingChip } from './chips.tsx';
import { SessionMenu } from './session-menu.tsx';
import { Title } from './title.tsx';
import { Todos } from './todos.tsx';
import { ContextMeter } from './usage/context-meter.tsx';

/** The head of a session: its title, folder, settings and menu. */
export function Header() {
  const { isListOpen, waiting } = useApp();
  const isRenaming = useSignal(false);
  return (
    <header class="head">
      <div class="head-line">
        <button
          type="button"
          class="quiet icon-only open-list"
          aria-label={waiting.value.length > 0 ? `Sessions, ${waitingText(waiting.value.length)}` : 'Sessions'}
          aria-expanded={isListOpen.value}
          onClick={() => {
            isListOpen.value = !isListOpen.value;
          }}
        >
          <Icon name="list" />
          {waiting.value.length > 0 && <span class="badge">{waiting.value.length}</span>}
        </button>
        <div class="head-title">
          <Title isEditing={isRenaming} />
          <Folder />
        </div>
        <div class="chips">
          <ModelChip />
          <ThinkingChip />
          <ApprovalChip />
          <ContextMeter />
        </div>
        <div class="head-buttons">
          <SearchButton />
          <SessionMenu isRenaming={isRenaming} />
        </div>
      </div>
      <Todos />
    </header>
  );
}

/** Renders nothing in an empty conversation. */
function SearchButton() {
  const { sheet } = useApp();
  const session = useSession();
  const isEmpty = useComputed(() => session.view.value.messages.length === 0).value;
  if (isEmpty) return null;
  return (
    <button
      type="button"
      class="quiet icon-only"
      aria-label="Search"
      onClick={() => {
        sheet.value = 'search';
      }}
    >
      <Icon name="search" />
    </button>
  );
}

/** The working folder, with its full path as tooltip. */
function Folder() {
  const session = useSession();
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  if (cwd === undefined) return null;
  return (
    <span class="folder" title={cwd}>
      <Icon name="folder" />
      <PlainText text={folderName(cwd, 2)} />
    </span>
  );
}
