import type { ReadonlySignal, Signal } from '@preact/signals';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { formatDateTime } from '../../format.ts';
import { clone } from '../actions/sessions/clone-and-fork.ts';
import { exportPage } from '../actions/sessions/export-page.ts';
import { renameSession } from '../actions/sessions/rename-session.ts';
import { deleteMenuItem } from '../controls/session-menu.tsx';
import { Icon } from '../icons.tsx';
import { Menu, type MenuItem } from '../overlay/menu.tsx';
import { type App, useApp } from '../state/app.ts';
import { ago } from '../state/list/relative-time.ts';
import { folderName, sessionTitle } from '../state/list/session-summaries.ts';
import { addressOf } from '../state/page-location.ts';
import { stepWithArrows } from './arrow-keys.ts';
import { NameField } from './name-field.tsx';
import { SessionLink } from './session-link.tsx';

interface SessionRowProps {
  readonly session: SessionSummary;
  readonly now: ReadonlySignal<number>;
  // The path of the session being renamed.
  readonly renamed: Signal<string | undefined>;
}

/** A session in the list: link, state and menu. */
export function SessionRow({ session, now, renamed }: SessionRowProps) {
  const app = useApp();
  const { id, path, cwd, lastModified, parentSession } = session;
  const isCurrent = id === app.sessionId.value;
  const name = sessionTitle(session);
  if (renamed.value === path) return <RenameRow session={session} onClose={() => (renamed.value = undefined)} />;
  const renaming = { label: 'Rename', icon: 'rename', onSelect: () => (renamed.value = path) } as const;
  return (
    <li class={`session-row ${app.unread.has(session) && !isCurrent ? 'unread' : ''}`}>
      <SessionLink id={id} title={name} onKeyDown={stepWithArrows}>
        <span class="session-name">
          <PlainText text={name} />
        </span>
        <span class="session-facts">
          <SessionSign session={session} isCurrent={isCurrent} />
          {parentSession !== undefined && <ForkSign />}
          <span class="session-folder" title={cwd}>
            <PlainText text={folderName(cwd)} />
          </span>
          <time dateTime={lastModified} title={formatDateTime(lastModified)}>
            {ago(Date.parse(lastModified), now.value)}
          </time>
        </span>
      </SessionLink>
      {app.may('prompt') && (
        <Menu
          label={`Actions for ${name}`}
          items={[renaming, ...copyMenuItems(app, session), deleteMenuItem(app, session)]}
        />
      )}
    </li>
  );
}

interface RenameRowProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** A row with a name field. The list shows the new name once the server has it. */
function RenameRow({ session, onClose }: RenameRowProps) {
  const app = useApp();
  const name = sessionTitle(session);
  const link = `.session-list a[href="${addressOf({ kind: 'session', id: session.id })}"]`;
  return (
    <li class="session-row renamed">
      <NameField
        label={`New name for ${name}`}
        name={name}
        onRename={(to) => void renameSession(app, session, to)}
        onClose={onClose}
        focusAfter={() => document.querySelector<HTMLElement>(link)}
      />
    </li>
  );
}

/** Forks have the title of their origin. */
const ForkSign = () => (
  <span class="session-copied" role="img" aria-label="From another session" title="From another session">
    <Icon name="fork" />
  </span>
);

const copyMenuItems = (app: App, session: SessionSummary): readonly MenuItem[] => [
  { label: 'Clone', icon: 'copy', onSelect: () => void clone(app, session) },
  { label: 'Export', icon: 'download', onSelect: () => void exportPage(app, session) },
];

const names = { running: 'Running', waiting: 'Waiting for you', idle: 'Idle', unread: 'Not read yet' };

interface SessionSignProps {
  readonly session: SessionSummary;
  readonly isCurrent: boolean;
}

// Shows the state of a session; sessions without agent and unread messages have no sign.
function SessionSign({ session, isCurrent }: SessionSignProps) {
  const { unread } = useApp();
  const kind = unread.has(session) && !isCurrent ? 'unread' : session.status;
  if (kind === undefined) return null;
  if (kind === 'waiting') return <span class="sign waiting">{names.waiting}</span>;
  return <span class={`sign ${kind}`} role="img" aria-label={names[kind]} title={names[kind]} />;
}
