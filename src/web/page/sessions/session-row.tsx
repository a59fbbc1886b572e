import type { ReadonlySignal, Signal } from '@preact/signals';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { dateAndTime } from '../../words.ts';
import { exportPage } from '../actions/sessions/export-page.ts';
import { clone } from '../actions/sessions/moves.ts';
import { rename } from '../actions/sessions/rename.ts';
import { Icon } from '../icons.tsx';
import { Menu, type MenuItem } from '../overlay/menu.tsx';
import { type App, useApp } from '../state/app.ts';
import { folderName, nameOf } from '../state/list/groups.ts';
import { ago } from '../state/list/when.ts';
import { addressOf } from '../state/place.ts';
import { stepWithArrows } from './arrows.ts';
import { deletion } from './deletion.ts';
import { NameField } from './name-field.tsx';
import { SessionLink } from './session-link.tsx';
import { SessionSign } from './session-sign.tsx';

interface SessionRowProps {
  readonly session: SessionSummary;
  readonly now: ReadonlySignal<number>;
  /** The path of the one that is being renamed. */
  readonly renamed: Signal<string | undefined>;
}

/** One session: where it leads, how it stands and what can be done with it. */
export function SessionRow({ session, now, renamed }: SessionRowProps) {
  const app = useApp();
  const { id, path, cwd, lastModified, parentSession } = session;
  const isCurrent = id === app.sessionId.value;
  const name = nameOf(session);
  if (renamed.value === path) return <Renamed session={session} onClose={() => (renamed.value = undefined)} />;
  const renaming = { label: 'Rename', icon: 'rename', onSelect: () => (renamed.value = path) } as const;
  return (
    <li class={`session-row ${app.unread.has(session) && !isCurrent ? 'unread' : ''}`}>
      <SessionLink id={id} title={name} onKeyDown={stepWithArrows}>
        <span class="session-name">
          <PlainText text={name} />
        </span>
        <span class="session-facts">
          <SessionSign session={session} isCurrent={isCurrent} />
          {parentSession !== undefined && <Copied />}
          <span class="session-folder" title={cwd}>
            <PlainText text={folderName(cwd)} />
          </span>
          <time dateTime={lastModified} title={dateAndTime(lastModified)}>
            {ago(Date.parse(lastModified), now.value)}
          </time>
        </span>
      </SessionLink>
      {app.may('prompt') && (
        <Menu label={`Actions for ${name}`} items={[renaming, ...copies(app, session), deletion(app, session)]} />
      )}
    </li>
  );
}

interface RenamedProps {
  readonly session: SessionSummary;
  readonly onClose: () => void;
}

/** A row whose session gets another name: the list tells it once the server has said so. */
function Renamed({ session, onClose }: RenamedProps) {
  const app = useApp();
  const name = nameOf(session);
  const link = `.session-list a[href="${addressOf({ kind: 'session', id: session.id })}"]`;
  return (
    <li class="session-row renamed">
      <NameField
        label={`New name for ${name}`}
        name={name}
        onRename={(to) => void rename(app, session, to)}
        onClose={onClose}
        following={() => document.querySelector<HTMLElement>(link)}
      />
    </li>
  );
}

/** Copies are called as what they were copied from. */
const Copied = () => (
  <span class="session-copied" role="img" aria-label="From another session" title="From another session">
    <Icon name="fork" />
  </span>
);

const copies = (app: App, session: SessionSummary): readonly MenuItem[] => [
  { label: 'Clone', icon: 'copy', onSelect: () => void clone(app, session) },
  { label: 'Export', icon: 'download', onSelect: () => void exportPage(app, session) },
];
