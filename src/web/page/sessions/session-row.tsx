import type { ReadonlySignal, Signal } from '@preact/signals';
import type { SessionSummary } from '../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { dateAndTime } from '../../words.ts';
import { exportPage } from '../actions/sessions/export-page.ts';
import { clone } from '../actions/sessions/moves.ts';
import { Icon } from '../icons.tsx';
import { Menu, type MenuItem } from '../overlay/menu.tsx';
import { type App, useApp } from '../state/app.ts';
import { folderName, nameOf } from '../state/list/groups.ts';
import { ago } from '../state/list/when.ts';
import { addressOf, type Place } from '../state/place.ts';
import { stepWithArrows } from './arrows.ts';
import { deletion } from './deletion.ts';
import { RenameForm } from './rename-form.tsx';
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
  const place: Place = { kind: 'session', id };
  const name = nameOf(session);
  if (renamed.value === path) return <RenameForm session={session} onClose={() => (renamed.value = undefined)} />;
  const visit = (event: MouseEvent) => {
    // Those who want another tab get one.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    app.go(place);
  };
  const rename = { label: 'Rename', icon: 'rename', onSelect: () => (renamed.value = path) } as const;
  return (
    <li class={`session-row ${app.unread.has(session) && !isCurrent ? 'unread' : ''}`}>
      <a
        href={addressOf(place)}
        aria-current={isCurrent ? 'page' : undefined}
        title={name}
        onClick={visit}
        onKeyDown={stepWithArrows}
      >
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
      </a>
      {app.may('prompt') && (
        <Menu label={`Actions for ${name}`} items={[rename, ...copies(app, session), deletion(app, session)]} />
      )}
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
  { label: 'Export', icon: 'download', onSelect: () => void exportPage(app, session) },
  { label: 'Clone', icon: 'copy', onSelect: () => void clone(app, session) },
];
