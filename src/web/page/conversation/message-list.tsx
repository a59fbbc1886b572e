import { useComputed, useSignalEffect } from '@preact/signals';
import { useMemo, useRef } from 'preact/hooks';
import { HiddenPrefix } from '../../message/path.tsx';
import { ViewRoot } from '../../message/view-state.tsx';
import { Skeleton } from '../placeholders.tsx';
import { useApp, useSession } from '../state/app.ts';
import { Welcome } from '../welcome/welcome.tsx';
import { Activity } from './activity.tsx';
import { EarlierMessages } from './earlier-messages.ts';
import { JumpButton } from './jump-button.tsx';
import { ListWindow } from './list/list-window.ts';
import { WindowedList } from './list/windowed-list.tsx';
import { RowView } from './rows/row-view.tsx';
import { RunFold } from './rows/run-fold.tsx';
import { isFold, type ListRow, RunFolds } from './rows/run-folds.ts';
import { estimateHeight, sessionRows } from './rows/session-rows.ts';
import { SearchBar } from './search/search-bar.tsx';

function MessageList() {
  const app = useApp();
  const session = useSession();
  const rows = useMemo(() => sessionRows(session), [session]);
  const cwd = useComputed(() => session.view.value.state.cwd).value;
  const earlier = useMemo(() => new EarlierMessages(session), [session]);
  const list = useMemo(
    () => new ListWindow<ListRow>({ estimate: estimateHeight, onNearStart: () => earlier.loadMore() }),
    [earlier],
  );
  const nextPage = useComputed(() => session.view.value.earlier);
  // A page that a new snapshot made outdated changes no row, and no scroll event at the top requests the next one.
  useSignalEffect(() => {
    if (nextPage.value && earlier.reading.value.kind === 'idle') list.reportNearStart();
  });
  const folds = useMemo(() => new RunFolds({ rows, session, isInSight: (keys) => list.isInSight(keys) }), [rows, list]);
  const shown = folds.rows.value;
  const goTo = (key: number) => {
    folds.open(key);
    list.setRows(folds.rows.peek());
    list.toRow(key);
  };
  const toggle = (key: number) => {
    list.keepInPlace(key);
    folds.toggle(key);
  };
  const draw = useMemo(
    () => (row: ListRow) =>
      isFold(row) ? (
        <RunFold row={row} goTo={goTo} onToggle={() => toggle(row.key)} />
      ) : (
        <RowView row={row} goTo={goTo} />
      ),
    [folds, list],
  );
  // A sent message and a shell command scroll to the end.
  const sent = useRef(session.shellRuns.peek());
  useSignalEffect(() => {
    const count = session.outbox.value.length + session.shellRuns.value;
    if (count > sent.current) list.toEnd();
    sent.current = count;
  });
  return (
    <div class="conversation">
      <p class="for-print note">
        This is the part that was on the screen. Export, in the menu of the session, has all of it.
      </p>
      <HiddenPrefix.Provider value={`${cwd}/`}>
        <ViewRoot of={rows}>
          <WindowedList
            label="Conversation"
            window={list}
            rows={shown}
            draw={draw}
            head={<EarlierRow earlier={earlier} />}
          />
        </ViewRoot>
      </HiddenPrefix.Provider>
      <Activity />
      <JumpButton window={list} rows={folds.rows} />
      {app.sheet.value === 'search' && (
        <SearchBar rows={rows} list={list} folds={folds} earlier={earlier} goTo={goTo} />
      )}
    </div>
  );
}

// The row above all messages, with loading state and errors. Its height is constant.
function EarlierRow({ earlier }: { readonly earlier: EarlierMessages }) {
  const session = useSession();
  const reading = earlier.reading.value;
  return (
    <div class="earlier" role="status">
      {reading.kind === 'reading' && <span class="note">Loading earlier messages</span>}
      {reading.kind === 'failed' && session.view.peek().earlier && (
        <>
          <span class="note failure">Earlier messages could not be read: {reading.reason}</span>
          <button type="button" class="quiet" onClick={() => earlier.retry()}>
            Retry
          </button>
        </>
      )}
    </div>
  );
}

/** The messages of the session, or the welcome page of an empty one. */
export function Conversation() {
  const { view, isLoaded: isKnown } = useSession();
  const hadMessages = useRef(false);
  const stage = useComputed(() => {
    const { messages, streamingMessage: answer, earlier } = view.value;
    // A retry removes the first message for a moment.
    hadMessages.current ||= messages.length > 0 || answer !== undefined || earlier !== undefined;
    if (hadMessages.current) return 'messages';
    return isKnown.value ? 'empty' : 'unknown';
  });
  if (stage.value === 'messages') return <MessageList />;
  return <div class="conversation empty">{stage.value === 'empty' ? <Welcome /> : <Skeleton />}</div>;
}
