import { useSignalEffect } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { useApp, useSession } from '../state/app.ts';
import { Activity } from './activity.tsx';
import { EarlierMessages } from './earlier-messages.ts';
import { EarlierRow } from './earlier-row.tsx';
import { JumpButton } from './jump-button.tsx';
import { ListWindow } from './list/list-window.ts';
import { WindowedList } from './list/windowed-list.tsx';
import { guessHeight } from './rows/guess-height.ts';
import { RowView } from './rows/row-view.tsx';
import type { Row } from './rows/rows.ts';
import { rowsOfSession } from './rows/rows-of-session.ts';
import { SearchBar } from './search/search-bar.tsx';

/** Everything that was said, and what is being said. */
export function Talk() {
  const app = useApp();
  const session = useSession();
  const rows = useMemo(() => rowsOfSession(session), [session]);
  const earlier = useMemo(() => new EarlierMessages(session), [session]);
  const list = useMemo(() => new ListWindow<Row>({ guess: guessHeight, onNearStart: () => earlier.more() }), [earlier]);
  // Whoever says something wants to see what comes of it.
  const sent = useRef(0);
  useSignalEffect(() => {
    const { length } = session.outbox.value;
    if (length > sent.current) list.toEnd();
    sent.current = length;
  });
  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      const isFind = event.key === 'f' && (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      // The browser sees only the rows that are drawn; asked twice, it may search those.
      if (!isFind || app.sheet.peek() !== undefined) return;
      event.preventDefault();
      app.sheet.value = 'search';
    };
    addEventListener('keydown', find);
    return () => removeEventListener('keydown', find);
  }, [app]);
  return (
    <div class="conversation">
      <WindowedList
        label="Conversation"
        window={list}
        rows={rows.value}
        draw={draw}
        head={<EarlierRow earlier={earlier} />}
      />
      <Activity />
      <JumpButton window={list} rows={rows} />
      {app.sheet.value === 'search' && <SearchBar rows={rows} list={list} earlier={earlier} />}
    </div>
  );
}

const draw = (row: Row) => <RowView row={row} />;
